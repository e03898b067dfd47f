// The most probable way to cut a word. The last tokens may wait for a step that adds them; others are there until one
// drops them.
class ByPaths {
  constructor(tokens, { since, rows, waiting }) {
    this.tokens = tokens;
    this.since = since;
    this.rows = rows;
    this.waiting = waiting;
    this.at = -1;
    this.idOf = new Map();
    this.lengths = new Map();
    this.changesAt = new Map(Array.from(tokens.left, (id, step) => [id, step + 1]));
    const mark = keyOf(tokens.markerText), different = new Set();
    for (let id = 0; id < tokens.base; id++) {
      if (tokens.kinds[id] !== "s") continue;
      const begins = tokens.markerId >= 0 && keyOf(tokens.texts[id]).startsWith(mark);
      const symbols = Array.from(decoded(begins ? tokens.texts[id].subarray(mark.length) : tokens.texts[id]));
      const ids = symbols.map((one) => tokens.pieces.get(keyOf(UTF8.encode(one))));
      const spelled = begins ? [tokens.markerId, ...ids] : ids;
      this.idOf.set(spelled.join(), id);
      this.lengths.set(id, spelled.length);
      if (spelled.length > 1) different.add(spelled.length);
    }
    this.different = [...different].sort((one, other) => one - other);
  }

  // The row of scores in force, for every token; nothing for those that are gone.
  scoresAt(at) {
    if (this.at === at) return this.scores;
    let row = this.since.length - 1;
    while (row > 0 && this.since[row] >= at) row--;
    const scores = this.waiting ? this.withAdded(row, at) : this.withoutDropped(row, at);
    this.at = at;
    this.until = row + 1 < this.since.length ? this.since[row + 1] + 1 : NEVER;
    return (this.scores = scores);
  }

  withAdded(row, at) {
    const scores = Float64Array.from(this.rows[row]);
    for (let id = scores.length - this.waiting; id < scores.length; id++)
      if (!(this.changesAt.get(id) <= at)) scores[id] = -Infinity;
    return scores;
  }

  withoutDropped(row, at) {
    const scores = new Float64Array(this.tokens.base).fill(1), gone = this.tokens.left;
    for (let step = 0; step < this.since[row]; step++) scores[gone[step]] = -Infinity;
    for (let id = 0, place = 0; id < scores.length; id++) if (scores[id] === 1) scores[id] = this.rows[row][place++];
    for (let step = this.since[row]; step < at; step++) scores[gone[step]] = -Infinity;
    return scores;
  }

  spelled(word) {
    const { ids, widths } = this.tokens.spelled(word);
    return { symbols: ids, ends: endsOf(widths) };
  }

  cut({ symbols, ends }, at) {
    const scores = this.scoresAt(at), ids = [], stops = [];
    for (let start = 0; start <= symbols.length; ) {
      let stop = start;
      while (stop < symbols.length && !"uf".includes(this.tokens.kinds[symbols[stop]])) stop++;
      for (const id of this.bestPath(symbols.slice(start, stop), scores)) {
        start += this.lengths.get(id) ?? 1;
        ids.push(id);
        stops.push(ends[start - 1]);
      }
      if (stop < symbols.length) {
        if (ids.length && ids[ids.length - 1] === symbols[stop] && symbols[stop] === this.tokens.unknown) {
          ids.pop();
          stops.pop();
        }
        ids.push(symbols[stop]);
        stops.push(ends[stop]);
      }
      start = stop + 1;
    }
    const until = (this.waiting ? this.held(symbols) : ids).reduce((until, id) => {
      const step = this.changesAt.get(id) ?? NEVER;
      return step > at ? Math.min(until, step) : until;
    }, this.until);
    return { ids, ends: stops, since: at, until, reasons: ids.map(() => NEVER) };
  }

  // All longer tokens that a word holds, whether they are there or not.
  held(symbols) {
    return symbols.flatMap((_, here) =>
      this.different.flatMap((length) => this.idOf.get(symbols.slice(here, here + length).join()) ?? []));
  }

  bestPath(symbols, scores) {
    const size = symbols.length, best = new Float64Array(size + 1).fill(-Infinity), last = [], before = [];
    best[0] = 0;
    const look = (here, length, id) => {
      const score = best[here] + scores[id];
      if (!(score > best[here + length])) return;
      best[here + length] = score;
      last[here + length] = id;
      before[here + length] = here;
    };
    for (let here = 0; here < size; here++) {
      look(here, 1, symbols[here]);
      for (const length of this.different) {
        if (length > size - here) break;
        const id = this.idOf.get(symbols.slice(here, here + length).join());
        if (id !== undefined && scores[id] !== -Infinity) look(here, length, id);
      }
    }
    const path = [];
    for (let place = size; place > 0; place = before[place]) path.push(last[place]);
    return path.reverse();
  }

  get whyNot() {
    return "of all ways to split the word, this is the most probable one now.";
  }
}

WAYS.paths = ByPaths;
