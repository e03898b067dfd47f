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

  get whyNot() {
    return "no pair that may be joined now spans it.";
  }
}

WAYS.priorities = ByPriorities;
