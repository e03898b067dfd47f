// The packed data: deflated JSON in which references stand for arrays, and the bytes of these behind it.

async function unpacked(base64) {
  const deflated = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate"));
  const data = new Uint8Array(await new Response(stream).arrayBuffer());
  const end = 4 + new DataView(data.buffer).getUint32(0, true);
  const value = JSON.parse(new TextDecoder().decode(data.subarray(4, end)));
  return withArrays(value, data.subarray(end));
}

function withArrays(value, data) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((one) => withArrays(one, data));
  if ("array" in value) return arrayOf(value, data);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withArrays(one, data)]));
}

// The lowest bytes of all numbers come first, then the next ones. A signed number n is 2n, or -2n - 1 below zero.
function arrayOf({ array, length, width, signed, real }, data) {
  if (width === 1 && !signed) return data.slice(array, array + length);
  const numbers = new Float64Array(length);
  for (let byte = width - 1; byte >= 0; byte--) {
    const first = array + byte * length;
    for (let i = 0; i < length; i++) numbers[i] = numbers[i] * 256 + data[first + i];
  }
  if (real) return new Float32Array(Uint32Array.from(numbers).buffer);
  if (signed) for (let i = 0; i < length; i++) numbers[i] = numbers[i] % 2 ? -(numbers[i] + 1) / 2 : numbers[i] / 2;
  return numbers;
}

function addedUp(differences) {
  const sums = Float64Array.from(differences);
  for (let i = 1; i < sums.length; i++) sums[i] += sums[i - 1];
  return sums;
}

function textsOf({ lengths, bytes }) {
  let end = 0;
  return Array.from(lengths, (length) => bytes.subarray(end, (end += length)));
}
