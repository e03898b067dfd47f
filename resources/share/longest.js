// At each place the longest token that fits.
class ByLongest {
  constructor(tokens, { longest }) {
    this.tokens = tokens;
    this.longestWord = longest;
    this.starting = new Map();
    this.continuing = new Map();
    this.longest = 1;
    for (let id = 0; id < tokens.count; id++) {
      if (tokens.kinds[id] === "u") continue;
      const bytes = tokens.bytes(id);
      this.enter(this.starting, bytes, id); // a word that spells the ## of a token can begin with it
      if (tokens.continues(id)) this.enter(this.continuing, bytes.subarray(tokens.continuing.length), id);
    }
    if (tokens.marker === "none") this.continuing = this.starting; // nothing marks what goes on
  }

  enter(births, bytes, id) {
    const text = this.tokens.isOfBytes ? keyOf(bytes) : decoded(bytes);
    if (!births.has(text)) births.set(text, [id, Math.max(0, id - this.tokens.base + 1)]);
    this.longest = Math.max(this.longest, this.tokens.isOfBytes ? text.length : Array.from(text).length);
  }

  // Where tokens are bytes, each byte is taken for a character.
  spelled(word) {
    const characters = Array.from(this.tokens.isOfBytes ? keyOf(UTF8.encode(word)) : word);
    const widths = characters.map((one) => (this.tokens.isOfBytes ? 1 : UTF8.encode(one).length));
    return { characters, ends: endsOf(widths) };
  }

  cut({ characters, ends }, at) {
    const ids = [], stops = [], reasons = [], size = characters.length;
    let since = 0, until = NEVER;
    const unknown = () => ({ ids: [this.tokens.unknown], ends: [ends[size - 1]], since, until, reasons: [NEVER] });
    if (size > this.longestWord) return unknown();
    for (let start = 0; start < size; ) {
      const births = start ? this.continuing : this.starting;
      let stop = Math.min(size, start + this.longest), found, longer = NEVER;
      for (; stop > start; stop--) {
        found = births.get(characters.slice(start, stop).join(""));
        if (found && found[1] <= at) break;
        if (found) longer = Math.min(longer, found[1]);
      }
      until = Math.min(until, longer);
      if (stop === start) return unknown();
      since = Math.max(since, found[1]);
      ids.push(found[0]);
      stops.push(ends[stop - 1]);
      reasons.push(longer === NEVER ? NEVER : longer - 1);
      start = stop;
    }
    return { ids, ends: stops, since, until, reasons };
  }

  get later() {
    return "a longer token fits from";
  }

  get whyNot() {
    return "no longer token fits.";
  }
}

WAYS.longest = ByLongest;
