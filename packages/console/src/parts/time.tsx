import { browser } from "../api/browser.ts";
import { agoText } from "../model/texts.ts";

/** A moment in the zone of the viewer; how long ago it was is its title. */
export function Moment({ at }: { readonly at: number | undefined }) {
  if (at === undefined) return <span class="faint">unknown</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={agoText(at, browser.now())}>
      {momentText(at)}
    </time>
  );
}

export function momentText(at: number): string {
  const date = new Date(at);
  const today = date.toDateString() === new Date(browser.now()).toDateString();
  return today ? date.toLocaleTimeString() : date.toLocaleString();
}
