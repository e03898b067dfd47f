// One run: it cuts texts, and knows its steps.

const MOST_REMEMBERED = 50000; // words
const DROPPED = -1; // in the place of the right half, of a step that drops its token; below it, of one that adds it

class Run {
  constructor(data, symbols) {
    this.symbols = symbols;
    Object.assign(this, { title: data.title, note: data.note, recipe: data.recipe, stepName: data.step, whyNot: data.why_not });
    this.matched = data.matched ?? [];
    this.tokens = new Tokens(data);
    this.tokens.symbols = symbols;
    this.length = data.steps.left.length;
    this.sizes = this.readSizes(data.size); // of the vocabulary, after each number of steps
    this.steps = data.steps;
    if (data.steps.count) this.readCounts(data.steps);
    this.changes = data.changes.map(changing);
    this.preparation = data.preparation && new Preparation(data.preparation);
    this.splitter = data.splits && new Splitter(data.splits);
    this.way = data.cuts.by && new WAYS[data.cuts.by](this.tokens, { ...data.cuts, longest: data.longest });
    this.words = data.words && { texts: textsOf(data.words.texts).map(decoded), counts: data.words.counts };
    this.remembered = new Map();
    this.colours = new Map();
  }

  // A token that is joined anew is one more only if it had been dropped.
  readSizes(atFirst) {
    const sizes = [atFirst], made = new Set();
    this.tokens.idOfStep.forEach((id, step) => {
      const drops = this.tokens.right[step] === DROPPED, change = drops ? -1 : made.has(id) ? 0 : 1;
      if (drops) made.delete(id);
      else made.add(id);
      sizes.push(sizes[step] + change);
    });
    return sizes;
  }

  sizeAt(step) {
    return this.sizes[step];
  }

  // The last step after which the vocabulary has that size, or one as near to it as there is.
  stepOfSize(size) {
    const far = (step) => Math.abs(this.sizes[step] - size);
    let found = this.length;
    for (let step = this.length - 1; step >= 0; step--) if (far(step) < far(found)) found = step;
    return found;
  }

  readCounts(steps) {
    this.counts = addedUp(steps.count);
    this.saved = this.counts.map((count, i) => count + steps.saved[i]);
    this.corpus = new Float64Array(this.length + 1).fill(steps.tokens_at_start);
    for (let i = 0; i < this.length; i++) this.corpus[i + 1] = this.corpus[i] - this.saved[i];
    let place = 0;
    this.others = Array.from(steps.other_is, (kind, i) => {
      const pair = kind === 2 ? [steps.other_left[place], steps.other_right[place]] : [this.tokens.left[i + 1], this.tokens.right[i + 1]];
      if (kind === 2) place++;
      return kind ? { pair, count: this.counts[i] - steps.other_count[i] } : null;
    });
  }

  // The colours of a token by what is shown of it.
  coloursOf(shown) {
    let found = this.colours.get(shown);
    if (!found) this.colours.set(shown, (found = coloursOf(bytesShown(shown))));
    return found;
  }

  // Why this text cannot be cut here as the program cuts it.
  refuses(text) {
    const unsure = [...this.changes, ...(this.preparation?.maps ?? [])].map((one) => one.unsureIn(text)).find(Boolean);
    const spelled = this.matched.find((token) => text.includes(token));
    if (spelled && !unsure && !this.whyNot)
      return `The text spells “${spelled}”, a special token, for which this page does not look; the program does.`;
    if (!unsure) return this.whyNot;
    return `What becomes of “${unsure}” depends on its neighbours, which this page does not follow; the program does.`;
  }

  // The stretches of a text, in order: {text, cut} of a word, {text} of what is in none.
  cut(text, at) {
    const changed = (piece) => [{ ...piece, text: this.changes.reduce((now, one) => one.changed(now), piece.text) }];
    const pieces = this.preparation ? this.preparation.pieces(text, changed) : changed({ text });
    return pieces.flatMap((piece) => (piece.token ? [this.found(piece)] : this.stretchesOf(piece, at)));
  }

  stretchesOf(piece, at) {
    if (!this.splitter) return this.preparation.words(piece).map(({ text }) => ({ text, cut: this.cutWord(text, at) }));
    return this.splitter.words(piece.text).map(([start, end, isWord]) => {
      const text = piece.text.slice(start, end);
      return isWord ? { text, cut: this.cutWord(text, at) } : { text };
    });
  }

  // A token that is found in every text.
  found({ text, token }) {
    const id = this.tokens.count + token.special;
    return { text, cut: { ids: [id], ends: [UTF8.encode(text).length], reasons: [NEVER] } };
  }

  cutWord(word, at) {
    let known = this.remembered.get(word);
    if (!known) {
      if (this.remembered.size > MOST_REMEMBERED) this.remembered.clear();
      known = { spelled: this.way.spelled(word), cut: null };
      this.remembered.set(word, known);
    }
    if (!known.cut || at < known.cut.since || at >= known.cut.until) known.cut = this.way.cut(known.spelled, at);
    return known.cut;
  }

  ids(text, at) {
    return this.cut(text, at).flatMap(({ cut }) => (cut ? cut.ids.map((id) => this.tokens.number(id)) : []));
  }

  // How often each pair occurs in the words it was learned from, at a moment. The last two moments are remembered.
  pairCounts(at) {
    this.countsAt ??= new Map();
    const known = this.countsAt.get(at);
    if (known) return known;
    const counts = new Map(), stays = (id) => "uf".includes(this.tokens.kinds[id] ?? "-");
    this.words.texts.forEach((word, i) => {
      const { ids } = this.cutWord(word, at);
      for (let place = 1; place < ids.length; place++) {
        if (stays(ids[place - 1]) || stays(ids[place])) continue;
        const key = pairKey(ids[place - 1], ids[place]);
        counts.set(key, (counts.get(key) ?? 0) + this.words.counts[i]);
      }
    });
    if (this.countsAt.size > 1) this.countsAt.delete(this.countsAt.keys().next().value);
    this.countsAt.set(at, counts);
    return counts;
  }

  leadingPairs(at, wanted) {
    const found = [...this.pairCounts(at)].sort((one, other) => other[1] - one[1]).slice(0, wanted);
    return found.map(([key, count]) => ({ pair: [Math.floor(key / SIDE), key % SIDE], count }));
  }
}
