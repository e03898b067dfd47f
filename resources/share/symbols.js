// Symbols that are no text, such as notes: a private character stands for each, and people read and type its name.

const UNKNOWN_SYMBOL = 2 ** 17 - 1; // the number of a name that no symbol has

class Symbols {
  constructor({ names, has_numbers: hasNumbers, first }) {
    Object.assign(this, { names, hasNumbers, first });
    this.numbers = new Map(names.map((name, number) => [name, number]).filter(([name]) => name));
  }

  // The text of private characters for names that are separated by spaces.
  textOf(typed) {
    return typed.split(/\s+/u).filter(Boolean).map((name) => String.fromCodePoint(this.first + this.numberOf(name))).join("");
  }

  numberOf(name) {
    if (this.numbers.has(name)) return this.numbers.get(name);
    return this.hasNumbers && /^[0-9]{1,6}$/.test(name) ? Math.min(Number(name), UNKNOWN_SYMBOL) : UNKNOWN_SYMBOL;
  }

  namesIn(text) {
    return Array.from(text, (character) => this.nameOf(character) ?? character).join(" ");
  }

  shown(text) {
    return Array.from(text, (character) => (this.nameOf(character) === undefined ? character : `<${this.nameOf(character)}>`)).join("");
  }

  nameOf(character) {
    const number = character.codePointAt(0) - this.first;
    if (number < 0 || number > UNKNOWN_SYMBOL) return undefined;
    return this.names[number] || (this.hasNumbers && number !== UNKNOWN_SYMBOL ? String(number) : "?");
  }
}
