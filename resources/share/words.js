// From a text to words: the changes a recipe makes, and the table that says where words begin.

const CUT_MARK = 1, CUT_PREVIOUS = 2, CUT_HERE = 4, MARK_HERE = 8, ACTION_BITS = 4, END_OF_TEXT = 28;

// Changes characters one by one; one whose change hangs on its neighbours is unsure.
class Changes {
  constructor({ codes, becomes, unsure }) {
    const characters = Array.from(addedUp(codes), (code) => String.fromCodePoint(code));
    this.becomes = new Map(characters.map((character, i) => [character, becomes[i]]));
    this.unsure = new Set(Array.from(unsure, (code) => String.fromCodePoint(code)));
  }

  unsureIn(text) {
    for (const character of text) if (this.unsure.has(character)) return character;
    return "";
  }

  changed(text) {
    let changed = "";
    for (const character of text) changed += this.becomes.get(character) ?? character;
    return changed;
  }
}

// Unicode's forms, as the browser knows them; some characters are kept apart, and stay as they are.
class Form {
  constructor({ form, apart }) {
    this.form = form;
    const ends = addedUp(apart), hex = (code) => `\\u{${code.toString(16)}}`;
    const ranges = Array.from({ length: ends.length / 2 }, (_, i) => `${hex(ends[2 * i])}-${hex(ends[2 * i + 1] - 1)}`);
    this.apart = new RegExp(`([${ranges.join("")}]+)`, "u");
  }

  unsureIn() {
    return "";
  }

  changed(text) {
    if (isAscii(text)) return text;
    return text.split(this.apart).map((part, i) => (i % 2 ? part : part.normalize(this.form))).join("");
  }
}

function changing(change) {
  return change.form ? new Form(change) : new Changes(change);
}

function isAscii(text) {
  return /^[\x00-\x7f]*$/.test(text);
}

// A machine that reads a text once, and cuts before this character, the one before it, or one it has marked.
class Splitter {
  constructor({ entries, row, starts, kinds, drops_blanks }) {
    this.entries = entries;
    this.row = row;
    this.dropsBlanks = drops_blanks;
    this.kinds = new Uint8Array(0x110000);
    const firsts = addedUp(starts);
    firsts.forEach((first, i) => this.kinds.fill(kinds[i], first, firsts[i + 1] ?? 0x110000));
  }

  // [start, end, is a word] of all stretches, as places in the string.
  words(text) {
    const cuts = [0];
    let row = 0, mark = 0, previous = 0;
    for (let here = 0; here < text.length; ) {
      const code = text.codePointAt(here), entry = this.entries[row + this.kinds[code]];
      this.cut(entry, mark, previous, here, cuts);
      if (entry & MARK_HERE) mark = here;
      row = entry >> ACTION_BITS;
      previous = here;
      here += code > 0xffff ? 2 : 1;
    }
    this.cut(this.entries[row + END_OF_TEXT], mark, previous, text.length, cuts);
    cuts.push(text.length);
    const words = [];
    for (let i = 1; i < cuts.length; i++) {
      const start = cuts[i - 1], end = cuts[i];
      if (end > start) words.push([start, end, !(this.dropsBlanks && this.isBlank(text.codePointAt(start)))]);
    }
    return words;
  }

  cut(entry, mark, previous, here, cuts) {
    if (entry & CUT_MARK) cuts.push(mark);
    if (entry & CUT_PREVIOUS) cuts.push(previous);
    if (entry & CUT_HERE) cuts.push(here);
  }

  isBlank(code) {
    return this.kinds[code] >= 1 && this.kinds[code] <= 4;
  }
}
