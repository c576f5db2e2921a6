// Whether a regular expression takes time in proportion to its input, whatever the input. Proven by its structure: an
// automaton with one state per character of the pattern, in which no text can be read around two loops in two ways.

/** Stand for all characters: every class of a pattern is tried on each of them. */
const ALPHABET = [
  ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)),
  ..."\u0085\u00a0\u00e9\u2028\u3000\ufeff\ud800",
];
/** What stands for the end of the text, or the place of any other assertion: something that may not be there. */
const END = ALPHABET.length;
/** A bounded repetition of more than this counts as an unbounded one. */
const FEW = 8;

/** Undefined for a linear pattern, otherwise what is wrong with it. */
export function superlinear(source, flags) {
  const parser = new Parser(source, flags);
  let tree;
  try {
    tree = parser.alternatives();
  } catch (error) {
    return error.message;
  }
  // From one place only, it is looked once.
  if (hasLook(tree) && !(source.startsWith("^") && !looksInLoop(tree) && !loopsBeforeLook(tree)))
    return "it looks ahead or behind without a bound, at every place";
  const inside = parser.lookarounds.map((one) => judge(one, parser, false)).find((why) => why !== undefined);
  return inside ?? judge(tree, parser, !flags.includes("y"));
}

function judge(tree, { atoms }, searches) {
  const machine = new Machine(atoms);
  const whole = machine.of(tree);
  if (machine.trouble !== undefined) return machine.trouble;
  // A search tries every place: as if anything could stand before, unless all alternatives begin with ^.
  if (searches && !whole.anchored) machine.before(whole);
  return machine.ambiguity(whole);
}

/** A pattern as a tree; each character or class is an atom with the set of what it takes. */
class Parser {
  constructor(source, flags) {
    this.text = source;
    this.flags = flags.replace(/[gyd]/g, "");
    this.at = 0;
    this.atoms = [];
    this.lookarounds = [];
  }

  alternatives() {
    const branches = [this.sequence()];
    while (this.text[this.at] === "|") {
      this.at++;
      branches.push(this.sequence());
    }
    return { kind: "or", parts: branches };
  }

  sequence() {
    const parts = [];
    while (this.at < this.text.length && !"|)".includes(this.text[this.at])) parts.push(this.quantified());
    return { kind: "and", parts };
  }

  quantified() {
    const part = this.part();
    const found = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(this.text.slice(this.at));
    if (found === null) return part;
    this.at += found[0].length;
    const sign = found[0][0];
    if (sign !== "{") return { kind: "repeat", part, least: sign === "+" ? 1 : 0, loops: sign !== "?" };
    const least = Number(found[1]);
    const most = found[2] === "" ? least : found[3] === "" ? Number.POSITIVE_INFINITY : Number(found[3]);
    if (most > FEW) return { kind: "repeat", part, least, loops: true };
    const copies = Array.from({ length: most }, (_, i) =>
      i < least ? part : { kind: "repeat", part, least: 0, loops: false },
    );
    return { kind: "and", parts: copies };
  }

  part() {
    const rest = this.text.slice(this.at);
    const open = /^\((\?(?::|<?[=!]|<\w+>))?/.exec(rest);
    if (open !== null) return this.group(open);
    if (rest[0] === "^") return this.skip(1, { kind: "begin" });
    if (rest[0] === "$") return this.skip(1, { kind: "end" });
    if (/^\\[bB]/.test(rest)) return this.skip(2, { kind: "end" });
    if (/^\\(?:[1-9]|k<)/.test(rest))
      throw new Error("it refers back to a group, which cannot be proven linear");
    const atom =
      /^(?:\[(?:\\.|[^\]\\])*\]|\\(?:u\{[^}]*\}|u....|x..|c.|[pP]\{[^}]*\}|.)|[\s\S])/u.exec(rest)?.[0] ?? "";
    const one = new RegExp(`^(?:${atom})$`, this.flags.replace("m", ""));
    const takes = ALPHABET.map((character) => one.test(character));
    this.atoms.push(takes);
    return this.skip(atom.length, { kind: "atom", atom: this.atoms.length - 1 });
  }

  group(open) {
    this.at += open[0].length;
    const inner = this.alternatives();
    if (this.text[this.at] !== ")") throw new Error("it cannot be read");
    this.at++;
    if (!/[=!]$/.test(open[1] ?? "")) return inner;
    this.lookarounds.push(inner);
    return { kind: "end", looksFar: hasLoop(inner) };
  }

  skip(length, node) {
    this.at += length;
    return node;
  }
}

const hasLoop = (node) => (node.kind === "repeat" && node.loops) || childrenOf(node).some(hasLoop);

const childrenOf = (node) => [...(node.parts ?? []), ...(node.part ? [node.part] : [])];
const hasLook = (node) => node.looksFar === true || childrenOf(node).some(hasLook);
const looksInLoop = (node) =>
  (node.kind === "repeat" && node.loops && hasLook(node)) || childrenOf(node).some(looksInLoop);
const loopsBeforeLook = (node) =>
  (node.kind === "and" &&
    node.parts.some((part, at) => hasLook(part) && node.parts.slice(0, at).some(hasLoop))) ||
  childrenOf(node).some(loopsBeforeLook);

/** One state per atom: which atoms may come first, last, and after each other. */
class Machine {
  constructor(atoms) {
    this.atoms = atoms;
    this.takes = [];
    this.follow = [];
    this.trouble = undefined;
  }

  state(takes) {
    this.takes.push(takes);
    this.follow.push(new Set());
    return this.takes.length - 1;
  }

  of(node) {
    if (node.kind === "begin") return { first: [], last: [], empty: true, anchored: true };
    if (node.kind === "end" || node.kind === "atom") {
      const takes = node.kind === "end" ? ALPHABET.map(() => false).concat(true) : this.atoms[node.atom];
      const state = this.state(takes);
      return { first: [state], last: [state], empty: false, anchored: false };
    }
    if (node.kind === "or") {
      const all = node.parts.map((part) => this.of(part));
      return {
        first: all.flatMap(({ first }) => first),
        last: all.flatMap(({ last }) => last),
        empty: all.some(({ empty }) => empty),
        anchored: all.every(({ anchored }) => anchored),
      };
    }
    if (node.kind === "repeat") return this.repeat(node);
    return node.parts.map((part) => this.of(part)).reduce((a, b) => this.join(a, b), EMPTY);
  }

  join(a, b) {
    for (const from of a.last) for (const to of b.first) this.follow[from].add(to);
    return {
      first: a.empty ? [...a.first, ...b.first] : a.first,
      last: b.empty ? [...a.last, ...b.last] : b.last,
      empty: a.empty && b.empty,
      anchored: a.anchored || (a.first.length === 0 && b.anchored),
    };
  }

  repeat(node) {
    const inner = this.of(node.part);
    if (node.loops) {
      for (const from of inner.last)
        for (const to of inner.first) {
          if (this.follow[from].has(to)) this.trouble = "it repeats what repeats itself: exponential";
          this.follow[from].add(to);
        }
      // (a?)* can go round without reading anything, in any number of ways.
      if (inner.empty && inner.first.length > 0) this.trouble ??= "it repeats what may be empty";
    }
    return { ...inner, empty: inner.empty || node.least === 0, anchored: false };
  }

  before(whole) {
    const any = this.state(ALPHABET.map(() => true));
    this.follow[any].add(any);
    for (const to of whole.first) this.follow[any].add(to);
    whole.search = any;
  }

  /** Two loops that take the same text, one reachable from the other by it: every split of that text is tried. */
  ambiguity(whole) {
    const done = new Set(whole.empty ? [...this.takes.keys()] : whole.last);
    const next = (state, symbol) => {
      const found = [];
      for (const to of this.follow[state]) {
        if (!this.takes[to][symbol]) continue;
        // Reading it would be a match: the search is over.
        if (done.has(to)) return [];
        found.push(to);
      }
      return found;
    };
    const moves = this.takes.map((_, state) =>
      Array.from({ length: END }, (_, symbol) => next(state, symbol)),
    );
    const classes = this.symbolClasses();
    const looping = [...this.takes.keys()].filter(
      (state) => !done.has(state) && this.reaches(state, state, moves, classes),
    );
    for (const p of looping) {
      if (this.twice(p, moves, classes)) return "the same text goes round one loop in two ways: exponential";
      for (const q of looping)
        if (p !== q && this.slides(p, q, moves, classes)) return "two loops take the same text: quadratic";
    }
    return undefined;
  }

  /** One symbol for all that every state treats the same. */
  symbolClasses() {
    const seen = new Map();
    for (let symbol = 0; symbol < END; symbol++) {
      const key = this.takes.map((takes) => (takes[symbol] ? 1 : 0)).join("");
      if (!seen.has(key)) seen.set(key, symbol);
    }
    return [...seen.values()];
  }

  reaches(from, to, moves, classes) {
    return walk(
      [from],
      classes,
      ([state], symbol) => moves[state][symbol].map((next) => [next]),
      ([s]) => s === to,
    );
  }

  slides(p, q, moves, classes) {
    return walk([p, p, q], classes, product(moves), ([a, b, c]) => a === p && b === q && c === q);
  }

  twice(p, moves, classes) {
    const step = product(moves);
    return walk(
      [p, p, 0],
      classes,
      ([a, b, apart], symbol) => step([a, b], symbol).map(([x, y]) => [x, y, apart || x !== y ? 1 : 0]),
      ([a, b, apart]) => a === p && b === p && apart === 1,
    );
  }
}

const EMPTY = { first: [], last: [], empty: true, anchored: false };

const product = (moves) => (states, symbol) =>
  states.reduce(
    (tuples, state) => tuples.flatMap((tuple) => moves[state][symbol].map((next) => [...tuple, next])),
    [[]],
  );

function walk(start, classes, step, found) {
  const seen = new Set();
  const open = [start];
  for (let at = open.pop(); at !== undefined; at = open.pop())
    for (const symbol of classes)
      for (const to of step(at, symbol)) {
        if (found(to)) return true;
        const key = to.join();
        if (seen.has(key)) continue;
        seen.add(key);
        open.push(to);
      }
  return false;
}
