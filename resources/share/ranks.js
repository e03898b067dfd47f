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

  get whyNot() {
    return "nothing of this run joins across it.";
  }
}

WAYS.ranks = ByRanks;
