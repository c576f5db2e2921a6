import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { Problem } from "../api/client.ts";
import type { Live } from "../api/live.ts";

/** A part of a page with its heading. */
export function Panel({
  title,
  note,
  children,
}: {
  readonly title: string;
  readonly note?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  const id = useId();
  return (
    <section class="panel" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {note !== undefined && <span class="faint">{note}</span>}
      </header>
      {children}
    </section>
  );
}

/** Shows an answer, why there is none, or that it is awaited. */
export function Loaded<T>({
  of,
  children,
}: {
  readonly of: Live<T>;
  readonly children: (value: T) => ComponentChildren;
}) {
  if (of.value !== undefined && of.problem?.kind !== "forbidden") return <>{children(of.value)}</>;
  if (of.problem !== undefined) return <Trouble problem={of.problem} />;
  return <p class="faint">Asking the Director…</p>;
}

export const Trouble = ({ problem }: { readonly problem: Problem }) => (
  <p class={problem.kind === "forbidden" ? "faint" : "trouble"}>
    {problem.kind === "forbidden" ? `You may not see this: ${problem.why}` : problem.why}
  </p>
);

/** A word with a color. The word says it, too. */
export const Badge = ({ level, text }: { readonly level: string; readonly text: string }) => (
  <span class={`badge ${level}`}>{text}</span>
);
