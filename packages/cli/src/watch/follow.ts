import type { Clock } from "@slipway/kernel/clock";
import { CertificateRefused, NotReachable } from "../api/errors.ts";
import { refusalOf } from "../api/refusal.ts";
import { Interrupted } from "../ui/errors.ts";
import type { Key, Screen } from "../ui/screen.ts";
import type { Ui } from "../ui/ui.ts";
import { changesBetween } from "./changes.ts";
import { draw } from "./draw.ts";
import type { DirectorState } from "./model.ts";

export interface WatchTools {
  readonly ui: Ui;
  readonly clock: Clock;
  readonly stop: AbortSignal;
  /** Reads the current state. */
  readonly look: () => Promise<DirectorState>;
  readonly intervalMs: number;
}

/** How often the window is drawn again although nothing was read: times go on. */
const TICK_MS = 1_000;

/** Follows until the user ends it: on a terminal in a window, elsewhere with a line for each change. */
export async function follow(tools: WatchTools): Promise<void> {
  // What is wrong at the first look is a mistake of who typed it, and belongs into no window.
  const first = await tools.look();
  const end = new AbortController();
  const view = new Window(tools.clock, tools.ui, () => end.abort());
  const screen = await tools.ui.screen(view);
  if (screen === undefined) {
    const tell = teller(tools.ui);
    tell(first);
    return await read(first, tools, tools.stop, tell);
  }
  try {
    view.show(screen, first);
    await Promise.race([
      read(first, tools, AbortSignal.any([tools.stop, end.signal]), (seen) => view.show(screen, seen)),
      ended(end.signal),
    ]);
  } catch (error) {
    if (view.quit && error instanceof Interrupted) return;
    throw error;
  } finally {
    view.close();
    screen.close();
  }
}

/** A request under way is not waited for. */
const ended = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(new Interrupted()), { once: true });
  });

async function read(
  first: DirectorState,
  { look, clock, intervalMs }: WatchTools,
  stop: AbortSignal,
  tell: (seen: DirectorState) => void,
): Promise<void> {
  let last = first;
  for (;;) {
    await clock.sleep(intervalMs, stop).catch(() => {
      throw new Interrupted();
    });
    last = await look().catch((error: unknown) => troubled(last, error, clock));
    tell(last);
  }
}

/** A Director that is started again is waited for; one that refuses is not. */
function troubled(last: DirectorState, error: unknown, clock: Clock): DirectorState {
  const refusal = refusalOf(error);
  const passing = NotReachable.is(error) || (refusal !== undefined && refusal.status >= 500);
  if (!passing || CertificateRefused.is(error)) throw error;
  const why = refusal?.description ?? (error instanceof Error ? error.message : String(error));
  return { ...last, trouble: last.trouble ?? { why, since: clock.now() } };
}

function teller(ui: Ui): (seen: DirectorState) => void {
  let before: DirectorState | undefined;
  return (seen) => {
    for (const { line, document } of changesBetween(before, seen)) {
      if (ui.json) ui.stream(document);
      else ui.line(line);
    }
    before = seen;
  };
}

/** Window with the state last read, and its scroll position. */
class Window {
  quit = false;
  readonly #clock: Clock;
  readonly #ui: Ui;
  readonly #end: () => void;
  #screen: Screen | undefined;
  #seen: DirectorState | undefined;
  #scroll = 0;
  #most = 0;
  #page = 1;
  #cancel = () => {};

  constructor(clock: Clock, ui: Ui, end: () => void) {
    this.#clock = clock;
    this.#ui = ui;
    this.#end = end;
  }

  show(screen: Screen, seen: DirectorState): void {
    this.#screen = screen;
    this.#seen = seen;
    this.#draw();
  }

  readonly onResize = (): void => this.#draw();

  readonly onKey = (key: Key): void => {
    if (key === "quit" || key === "interrupt") {
      this.quit = key === "quit";
      this.#end();
      return;
    }
    const by = { up: -1, down: 1, "page up": -this.#page, "page down": this.#page };
    const to = key === "home" ? 0 : key === "end" ? this.#most : this.#scroll + by[key];
    this.#scroll = Math.min(this.#most, Math.max(0, to));
    this.#draw();
  };

  close(): void {
    this.#cancel();
    this.#screen = undefined;
  }

  #draw(): void {
    this.#cancel();
    const [screen, seen] = [this.#screen, this.#seen];
    if (screen === undefined || seen === undefined) return;
    const drawn = draw(seen, {
      ...screen.size(),
      now: this.#clock.now(),
      paint: this.#ui.paint,
      scroll: this.#scroll,
      keys: screen.keys,
    });
    this.#most = drawn.most;
    this.#page = Math.max(1, drawn.page - 1);
    this.#scroll = Math.min(this.#scroll, drawn.most);
    screen.draw(drawn.lines);
    this.#cancel = this.#clock.after(TICK_MS, () => this.#draw());
  }
}
