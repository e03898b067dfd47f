// The tokens of a run: their bytes, what is written on them, and how a word is spelled by the first of them.

const UTF8 = new TextEncoder(), STRICT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const SIGN_OF = { " ": "␣", "\n": "⏎", "\t": "⇥" };
const HIDDEN = /[\p{C}\p{Z}]/u;

function hex(bytes) {
  return Array.from(bytes, (byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`).join("");
}

// Bytes as text that hides nothing.
function written(bytes) {
  let text = "";
  for (let i = 0; i < bytes.length; ) {
    const lead = bytes[i], width = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    const character = decoded(bytes.subarray(i, i + width));
    const isForm = /^<0x[0-9A-F]{2}>/.test(String.fromCharCode(...bytes.subarray(i, i + 6)));
    if (character === null) text += hex(bytes.subarray(i, i + 1));
    else if (SIGN_OF[character]) text += SIGN_OF[character];
    else if (HIDDEN.test(character) || isForm || "␣⏎⇥".includes(character)) text += hex(UTF8.encode(character));
    else text += character;
    i += character === null ? 1 : width;
  }
  return text;
}

// The bytes of a text in which parts of characters are written as hex writes them.
function bytesShown(shown) {
  return /^(<0x[0-9A-F]{2}>)+$/.test(shown) ? Array.from(shown.matchAll(/..(?=>)/g), ([byte]) => parseInt(byte, 16)) : UTF8.encode(shown);
}

function decoded(bytes) {
  try {
    return STRICT.decode(bytes);
  } catch {
    return null;
  }
}

function keyOf(bytes) {
  let key = "";
  for (const byte of bytes) key += String.fromCharCode(byte);
  return key;
}

// Colours: a token keeps its own through time and across runs, the one that it has in the window.
const GROUNDS = 6, WORD = (number) => BigInt.asUintN(64, number);
const BASE = 0x100000001b3n, SCATTER = 0x9e3779b97f4a7c15n;

// The colour of these bytes, and which of the four others they take beside their like.
function coloursOf(bytes) {
  let hash = 0n, power = 1n;
  for (const byte of bytes) {
    hash = WORD(hash + BigInt(byte + 1) * power);
    power = WORD(power * BASE);
  }
  hash = WORD((hash ^ (hash >> 29n)) * SCATTER);
  return [Number((hash >> 33n) % BigInt(GROUNDS)), Number((hash >> 15n) % 4n)];
}

// Of neighbours with one colour each second one takes another, which the one behind them does not have.
function coloursInRow(pairs) {
  let place = 0;
  return pairs.map(([own, other], i) => {
    place = i && pairs[i - 1][0] === own ? place + 1 : 0;
    if (place % 2 === 0) return own;
    const next = pairs[i + 1]?.[0], behind = next === undefined || next === own ? (own + 1) % GROUNDS : next;
    const moved = other >= Math.min(own, behind) ? other + 1 : other;
    return moved >= Math.max(own, behind) ? moved + 1 : moved;
  });
}

class Tokens {
  constructor({ alphabet, steps, marker, marker_text, base, numbers, specials }) {
    this.kinds = alphabet.kinds;
    this.base = this.kinds.length;
    this.texts = alphabet.texts ? textsOf(alphabet.texts) : Array.from(this.kinds, (_, i) => Uint8Array.of(i));
    this.decoded = alphabet.decoded ? textsOf(alphabet.decoded) : this.texts.slice();
    this.numbers = numbers;
    this.specials = specials;
    this.marker = marker;
    this.markerText = UTF8.encode(marker_text);
    this.isOfBytes = base === "bytes";
    this.left = steps.left;
    this.right = steps.right;
    this.idOfStep = new Int32Array(this.left.length);
    this.stepOfJoined = [];
    this.stepOfSingle = new Map(); // of tokens that are dropped or added
    for (let step = 0; step < this.left.length; step++) {
      const joins = this.right[step] >= 0, next = this.base + this.stepOfJoined.length;
      this.idOfStep[step] = steps.made ? steps.made[step] : joins ? next : this.left[step];
      if (joins && this.idOfStep[step] === next) this.stepOfJoined.push(step);
      if (!joins) this.stepOfSingle.set(this.left[step], step);
    }
    this.count = this.base + this.stepOfJoined.length;
    this.continuing = this.findContinuing();
    this.names = new Map();
    this.indexPieces();
  }

  // What is written before a token that continues a word, as ## is.
  findContinuing() {
    for (let id = 0; id < this.base; id++) {
      const extra = this.texts[id].length - this.decoded[id].length;
      if (extra > 0 && "is".includes(this.kinds[id])) return this.texts[id].subarray(0, extra);
    }
    return new Uint8Array(0);
  }

  indexPieces() {
    this.pieces = new Map();
    this.continuations = new Map();
    this.unknown = this.markerId = this.firstFallback = -1;
    for (let id = this.base - 1; id >= 0; id--) {
      const kind = this.kinds[id];
      if ("bcg".includes(kind)) this.pieces.set(keyOf(this.texts[id]), id);
      else if (kind === "i") this.continuations.set(keyOf(this.decoded[id]), id);
      else if (kind === "u") this.unknown = id;
      else if (kind === "m") this.markerId = id;
      else if (kind === "f") this.firstFallback = id;
    }
  }

  parts(id) {
    if (id < this.base || id >= this.count) return null;
    const step = this.stepOfJoined[id - this.base];
    return [this.left[step], this.right[step]];
  }

  // The step that joins, drops or adds a token.
  stepOf(id) {
    return id < this.base ? this.stepOfSingle.get(id) : this.stepOfJoined[id - this.base];
  }

  // The whole text of a token, its marker included.
  bytes(id) {
    if (id >= this.count) return UTF8.encode(this.specials[id - this.count] ?? "");
    const waiting = [id];
    while (waiting.length) {
      const one = waiting[waiting.length - 1];
      const missing = this.texts[one] ? [] : this.parts(one).filter((part) => !this.texts[part]);
      if (missing.length) {
        waiting.push(...missing);
        continue;
      }
      waiting.pop();
      if (!this.texts[one]) this.texts[one] = this.joined(...this.parts(one).map((part) => this.texts[part]));
    }
    return this.texts[id];
  }

  joined(left, right) {
    const mark = this.continuing.length;
    const marked = mark > 0 && this.continuing.every((byte, i) => byte === right[i]);
    const rest = marked ? right.subarray(mark) : right;
    const bytes = new Uint8Array(left.length + rest.length);
    bytes.set(left);
    bytes.set(rest, left.length);
    return bytes;
  }

  continues(id) {
    while (id >= this.base) id = this.parts(id)[0];
    return this.texts[id].length !== this.decoded[id].length;
  }

  name(id) {
    let name = this.names.get(id);
    if (name === undefined) {
      const bytes = this.bytes(id);
      name = this.kinds[id] === "f" ? decoded(bytes) : (this.symbols?.shown(decoded(bytes) ?? "") || written(bytes));
      this.names.set(id, name);
    }
    return name;
  }

  number(id) {
    return this.numbers ? this.numbers[id] : id;
  }

  // The first tokens of a word, and how many of its bytes each covers.
  spelled(word) {
    const bytes = UTF8.encode(word), ids = [], widths = [];
    if (this.isOfBytes && (this.marker === "none" || this.marker === "continuation")) {
      for (const byte of bytes) ids.push(this.pieces.get(String.fromCharCode(byte)));
      return { ids, widths: ids.map(() => 1) };
    }
    const pieces = this.isOfBytes ? Array.from(bytes, (byte) => Uint8Array.of(byte)) : Array.from(word, (one) => UTF8.encode(one));
    if (this.marker === "prefix" && this.markerId >= 0) this.add(ids, widths, [this.markerId], [0]);
    pieces.forEach((piece, i) => this.spell(piece, i, pieces.length, ids, widths));
    if (this.marker !== "prefix" && this.markerId >= 0) this.add(ids, widths, [this.markerId], [0]);
    return { ids, widths };
  }

  spell(piece, place, count, ids, widths) {
    if (this.continuations.size && place) {
      this.add(ids, widths, [this.continuations.get(keyOf(piece)) ?? this.unknown], [piece.length]);
      return;
    }
    const isGlued = this.marker === "glued" && place === count - 1;
    const id = this.pieces.get(keyOf(piece) + (isGlued ? keyOf(this.markerText) : ""));
    if (id !== undefined) this.add(ids, widths, [id], [piece.length]);
    else if (this.firstFallback < 0) this.add(ids, widths, [this.unknown], [piece.length]);
    else this.add(ids, widths, Array.from(piece, (byte) => this.firstFallback + byte), Array.from(piece, () => 1));
  }

  add(ids, widths, moreIds, moreWidths) {
    ids.push(...moreIds);
    widths.push(...moreWidths);
  }
}
