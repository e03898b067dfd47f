// How a file prepares a text: tokens that are always found, changes, and what splits it. Pieces are {text, first}, where
// `first` says that the whole text begins with it, or {token} of a token that was found.

const BEHAVIORS = {
  Removed: (parts) => parts.filter(([, isMatch]) => !isMatch).map(([text]) => text),
  Isolated: (parts) => parts.map(([text]) => text),
  Contiguous: (parts) => joinedParts(parts, (before, now) => before === now),
  MergedWithPrevious: (parts) => joinedParts(parts, (before, now) => now && !before),
  MergedWithNext: (parts) => joinedParts([...parts].reverse(), (before, now) => now && !before, true).reverse(),
};

// A part is joined to the one before it if `joins` says so of both.
function joinedParts(parts, joins, isBackwards = false) {
  const found = [];
  let before = false;
  for (const [text, isMatch] of parts) {
    if (found.length && joins(before, isMatch)) found.push(isBackwards ? text + found.pop() : found.pop() + text);
    else found.push(text);
    before = isMatch;
  }
  return found;
}

const OPERATIONS = {
  map: ({ changes }) => (piece) => [{ text: changes.changed(piece.text), first: piece.first && changes.changed(characterOf(piece.text)) !== "" }],
  replace: ({ text, by }) => (piece) => {
    const keeps = !piece.text.startsWith(text) || (by && text === characterOf(text)); // the first character
    return [{ text: piece.text.split(text).join(by), first: piece.first && keeps }];
  },
  begin: ({ text, once }) => (piece) => [{ ...piece, text: (once && piece.text.startsWith(text) ? "" : text) + piece.text }],
  sign: ({ text, where }) => (piece) => {
    const signs = piece.text.replaceAll(" ", text), begins = where === "always" || (where === "first" && piece.first);
    return [{ ...piece, text: begins && !signs.startsWith(text) ? text + signs : signs }];
  },
  at: ({ text, behavior, invert }) => (piece) => {
    const parts = piece.text.split(text).flatMap((part, i) => (i ? [[text, !invert], [part, invert]] : [[part, invert]]));
    return BEHAVIORS[behavior](parts.filter(([part]) => part)).map((part, i) => ({ text: part, first: piece.first && !i }));
  },
  scan: ({ splitter }) => (piece) =>
    splitter.words(piece.text).flatMap(([start, end, isWord]) => (isWord ? [{ text: piece.text.slice(start, end), first: piece.first && !start }] : [])),
};

class Preparation {
  constructor({ tokens, changes, cuts }) {
    const made = (step) => OPERATIONS[step.do]({ ...step, changes: step.changes && changing(step.changes), splitter: step.table && new Splitter(step.table) });
    this.maps = changes.filter(({ changes }) => changes).map(({ changes }) => changing(changes));
    this.changes = changes.map(made);
    this.cuts = cuts.map(made);
    this.atOnce = tokens.filter(({ later }) => !later);
    this.later = tokens.filter(({ later }) => later);
  }

  // The pieces of a text, changed by `change` besides its own changes.
  pieces(text, change) {
    const changed = (piece) => through([change, ...this.changes], piece);
    const found = foundIn({ text, first: true }, this.atOnce).flatMap((piece) => (piece.token ? [piece] : changed(piece)));
    return found.flatMap((piece) => (piece.token ? [piece] : foundIn(piece, this.later)));
  }

  words(piece) {
    return through(this.cuts, piece);
  }
}

function characterOf(text) {
  return String.fromCodePoint(text.codePointAt(0));
}

function through(steps, piece) {
  return steps.reduce((pieces, step) => pieces.flatMap((one) => (one.text ? step(one) : [])), [piece]);
}

// The tokens in a piece, the longest of those that begin at a place, and what is between them.
function foundIn(piece, tokens) {
  const wanted = tokens.filter(({ text }) => text).sort((one, other) => other.text.length - one.text.length);
  if (!wanted.length) return [piece];
  const found = [], { text } = piece, beginnings = new Set(wanted.map((one) => one.text[0]));
  let end = 0;
  const add = (stop) => stop > end && found.push({ text: text.slice(end, stop), first: piece.first && !end });
  for (let place = 0; place < text.length; ) {
    const token = beginnings.has(text[place]) && wanted.find((one) => text.startsWith(one.text, place));
    if (token) {
      add(place);
      found.push({ text: token.text, token });
      place = end = place + token.text.length;
    } else place++;
  }
  add(text.length);
  return found;
}
