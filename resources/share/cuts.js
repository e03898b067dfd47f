// From a word to tokens, after any number of steps. Each way of cutting has a class; all return the ids, where each
// token ends in the bytes of the word, and between which steps the cut stays the same.

const NEVER = Infinity, SIDE = 2 ** 22;

function pairKey(left, right) {
  return left * SIDE + right;
}

// The smallest number first.
class Heap {
  constructor() {
    this.items = [];
  }

  push(item) {
    const items = this.items;
    let place = items.length;
    for (; place > 0 && items[(place - 1) >> 1] > item; place = (place - 1) >> 1) items[place] = items[(place - 1) >> 1];
    items[place] = item;
  }

  pop() {
    const items = this.items, top = items[0], last = items.pop();
    if (!items.length) return top;
    let place = 0;
    for (let child = 1; child < items.length; child = 2 * place + 1) {
      if (child + 1 < items.length && items[child + 1] < items[child]) child++;
      if (items[child] >= last) break;
      items[place] = items[child];
      place = child;
    }
    items[place] = last;
    return top;
  }
}

const PLACES = 2 ** 26; // a heap entry is priority * PLACES + place

function endsOf(widths) {
  let end = 0;
  return widths.map((width) => (end += width));
}

// Merges in the order they were learned: each boundary is dissolved by one merge, whatever the moment.
class ByRanks {
  constructor(tokens) {
    this.tokens = tokens;
    this.rankOf = new Map();
    for (let rank = tokens.left.length - 1; rank >= 0; rank--)
      this.rankOf.set(pairKey(tokens.left[rank], tokens.right[rank]), rank);
  }

  spelled(word) {
    const { ids, widths } = this.tokens.spelled(word);
    return { symbols: ids, ends: endsOf(widths), ranks: this.ranks(ids) };
  }

  // Of each symbol the merge that dissolves the boundary before it.
  ranks(symbols) {
    const { left, right, base } = this.tokens, size = symbols.length, ids = symbols.slice(), heap = new Heap();
    const before = symbols.map((_, i) => i - 1), after = symbols.map((_, i) => i + 1);
    const ranks = symbols.map(() => NEVER);
    const enter = (place) => {
      const rank = after[place] < size ? this.rankOf.get(pairKey(ids[place], ids[after[place]])) : undefined;
      if (rank !== undefined) heap.push(rank * PLACES + place);
    };
    for (let place = 0; place < size - 1; place++) enter(place);
    while (heap.items.length) {
      const entry = heap.pop(), place = entry % PLACES, rank = (entry - place) / PLACES, other = after[place];
      if (ids[place] !== left[rank] || other >= size || ids[other] !== right[rank]) continue;
      ids[place] = base + rank;
      ids[other] = -1;
      ranks[other] = rank;
      after[place] = after[other];
      if (after[place] < size) before[after[place]] = place;
      enter(place);
      if (place > 0) enter(before[place]);
    }
    return ranks;
  }

  cut(spelled, at) {
    const { symbols, ends, ranks } = spelled, ids = [], stops = [], reasons = [];
    let since = 0, until = NEVER, last = -1, first = symbols[0];
    for (let i = 1; i <= symbols.length; i++) {
      const rank = i < symbols.length ? ranks[i] : NEVER;
      if (rank < at) {
        last = Math.max(last, rank);
        since = Math.max(since, rank + 1);
        continue;
      }
      until = Math.min(until, rank + 1);
      ids.push(last < 0 ? first : this.tokens.base + last);
      stops.push(ends[i - 1]);
      reasons.push(rank);
      first = symbols[i];
      last = -1;
    }
    return { ids, ends: stops, since, until, reasons };
  }
}

// The best pair of a word first, by priorities that are not the order of the steps.
class ByPriorities {
  constructor(tokens, cuts) {
    this.tokens = tokens;
    this.joinsUnknown = cuts.joins_unknown;
    this.leftOut = new Set(cuts.left_out);
    this.found = new Map();
    this.priorities = cuts.priorities;
    this.whole = new Map();
    this.byText = new Map();
    if (cuts.pairs) cuts.pairs[0].forEach((left, i) => this.found.set(pairKey(left, cuts.pairs[1][i]), [i, cuts.pairs[2][i]]));
    for (let id = tokens.count - 1; id >= 0 && (cuts.whole_words || !cuts.pairs); id--) this.index(id, cuts);
  }

  index(id, { whole_words, priorities }) {
    const text = keyOf(this.tokens.bytes(id)), known = this.byText.get(text);
    if (whole_words) this.whole.set(text, id);
    if (!priorities || priorities[id] < 0 || (known && known[0] < priorities[id])) return;
    this.byText.set(text, [priorities[id], id]);
  }

  spelled(word) {
    const prefix = this.tokens.marker === "prefix" ? keyOf(this.tokens.markerText) : "";
    const { ids, widths } = this.tokens.spelled(word), kept = [], wide = [];
    let waiting = 0;
    ids.forEach((id, i) => {
      waiting += widths[i];
      if (this.leftOut.has(id)) return;
      kept.push(id);
      wide.push(waiting);
      waiting = 0;
    });
    return { symbols: kept, ends: endsOf(wide), size: UTF8.encode(word).length, whole: this.whole.get(prefix + keyOf(UTF8.encode(word))) };
  }

  find(left, right) {
    const key = pairKey(left, right);
    if (!this.priorities || this.found.has(key)) return this.found.get(key);
    const alone = "uf".includes(this.tokens.kinds[left] ?? "-") || "uf".includes(this.tokens.kinds[right] ?? "-");
    const text = () => keyOf(this.tokens.bytes(left)) + keyOf(this.tokens.bytes(right));
    const found = alone ? undefined : this.byText.get(text());
    this.found.set(key, found);
    return found;
  }

  birth(id) {
    return Math.max(0, id - this.tokens.base + 1);
  }

  cut({ symbols, ends, size, whole }, at) {
    let since = 0, until = NEVER;
    if (whole !== undefined) {
      if (this.birth(whole) <= at) return { ids: [whole], ends: [size], since: this.birth(whole), until, reasons: [NEVER] };
      until = this.birth(whole);
    }
    const end = symbols.length, ids = symbols.slice(), limit = this.tokens.base + at, heap = new Heap(), joins = [];
    const after = symbols.map((_, i) => i + 1), before = symbols.map((_, i) => i - 1);
    const enter = (start) => {
      const middle = after[start], found = middle < end ? this.find(ids[start], ids[middle]) : undefined;
      if (!found) return;
      if (found[1] >= limit) until = Math.min(until, this.birth(found[1]));
      else heap.push(found[0] * PLACES + start);
      joins[start] = found[1] < limit ? [found, middle, after[middle]] : undefined;
    };
    for (let start = 0; start < end - 1; start++) enter(start);
    while (heap.items.length) {
      const entry = heap.pop(), start = entry % PLACES, join = joins[start];
      if (!join || join[0][0] !== (entry - start) / PLACES || after[start] !== join[1] || after[join[1]] !== join[2]) continue;
      const [[, token], middle, stop] = join;
      ids[start] = token;
      after[start] = stop;
      after[middle] = 0;
      joins[middle] = undefined;
      since = Math.max(since, this.birth(token));
      if (stop < end) before[stop] = start;
      joins[start] = undefined;
      enter(start);
      if (start) enter(before[start]);
    }
    return { ...this.listed(ids, after, ends), since, until };
  }

  listed(ids, after, ends) {
    const kept = [], stops = [];
    for (let start = 0; start < ids.length; start = after[start]) {
      const stop = ends[after[start] - 1];
      if (kept.length && ids[start] === this.joinsUnknown && kept[kept.length - 1] === ids[start]) stops[stops.length - 1] = stop;
      else {
        kept.push(ids[start]);
        stops.push(stop);
      }
    }
    return { ids: kept, ends: stops, reasons: kept.map(() => NEVER) };
  }
}

// At each place the longest token that fits.
class ByLongest {
  constructor(tokens, { longest_word }) {
    this.tokens = tokens;
    this.longestWord = longest_word;
    this.starting = new Map();
    this.continuing = new Map();
    this.longest = 1;
    for (let id = 0; id < tokens.count; id++) {
      if (tokens.kinds[id] === "u") continue;
      const continues = tokens.continues(id), bytes = tokens.bytes(id).subarray(continues ? tokens.continuing.length : 0);
      const text = tokens.isOfBytes ? keyOf(bytes) : decoded(bytes);
      const births = continues ? this.continuing : this.starting;
      if (!births.has(text)) births.set(text, [id, Math.max(0, id - tokens.base + 1)]);
      this.longest = Math.max(this.longest, tokens.isOfBytes ? text.length : Array.from(text).length);
    }
    if (tokens.marker === "none") this.continuing = this.starting; // nothing marks what goes on
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
}

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
}

const WAYS = { ranks: ByRanks, priorities: ByPriorities, longest: ByLongest, paths: ByPaths };
