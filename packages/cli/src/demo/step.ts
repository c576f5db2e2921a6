import type { Clock } from "@slipway/kernel/clock";
import { secondsText } from "../ui/time-text.ts";
import type { Ui } from "../ui/ui.ts";

/** What a step has brought, and how that reads. */
interface Outcome<T> {
  readonly said: string;
  readonly value: T;
}

/** One step of the story: live on a terminal; elsewhere one line when it is over. With the time it took. */
export async function step<T>(
  { ui, clock }: { readonly ui: Ui; readonly clock: Clock },
  doing: string,
  work: (update: (text: string) => void) => Promise<Outcome<T>>,
): Promise<T> {
  const begun = clock.monotonic();
  const progress = ui.live ? ui.progress(doing) : undefined;
  try {
    const { said, value } = await work((text) => progress?.update(`${doing}: ${text}`));
    const line = `${said} ${ui.paint.dim(`(${secondsText(clock.monotonic() - begun)})`)}`;
    if (progress === undefined) ui.line(line);
    else progress.done(line);
    return value;
  } catch (error) {
    if (progress === undefined) ui.line(`${doing}: failed`);
    else progress.failed();
    throw error;
  }
}
