import { useState } from "preact/hooks";
import { durationText } from "../model/texts.ts";
import { barOf, type Span, spansAt, type Timeline, tookText } from "../model/timeline.ts";
import { JsonText } from "../parts/document.tsx";
import { Facts } from "../parts/facts.tsx";
import { LongList } from "../parts/long-list.tsx";
import { momentText } from "../parts/time.tsx";

/** Steps of the slider that replays a task. */
const REPLAY_STEPS = 200;

/** Stages, steps and calls as bars over time. A call is opened to its request and answer. */
export function TimelineView({
  timeline,
  ended,
  until,
}: {
  readonly timeline: Timeline;
  readonly ended: boolean;
  /** The right end: now, or the end of the task. */
  readonly until: number;
}) {
  const [opened, setOpened] = useState<string>();
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [replay, setReplay] = useState(REPLAY_STEPS);
  const { began } = timeline;
  if (began === undefined)
    return <p class="faint">{ended ? "It had no steps." : "Nothing has begun yet."}</p>;
  const moment = began + ((until - began) * replay) / REPLAY_STEPS;
  const now = ended && replay < REPLAY_STEPS ? moment : until;
  const known = ended && replay < REPLAY_STEPS ? spansAt(timeline.spans, moment) : timeline.spans;
  const shown = unfolded(known, folded);
  const open = known.find(({ key }) => key === opened);
  const toggle = (index: number) => {
    const span = shown[index];
    if (span === undefined) return;
    if (span.kind !== "stage") return setOpened(span.key);
    const next = new Set(folded);
    if (!next.delete(span.key)) next.add(span.key);
    setFolded(next);
  };
  return (
    <>
      {ended && (
        <label class="replay">
          Replay
          <input
            type="range"
            min={0}
            max={REPLAY_STEPS}
            value={replay}
            aria-valuetext={momentText(moment)}
            onInput={({ currentTarget }) => setReplay(Number(currentTarget.value))}
          />
          <output>
            {momentText(moment)}, after {durationText(moment - began)}
          </output>
        </label>
      )}
      <LongList
        label="Stages, steps and calls"
        count={shown.length}
        follow={!ended}
        row={(index) => {
          const span = shown[index];
          return span === undefined ? null : (
            <Bar span={span} began={began} until={until} now={now} folded={folded.has(span.key)} />
          );
        }}
        onOpen={toggle}
      />
      {open !== undefined && <SpanDetail span={open} now={now} />}
    </>
  );
}

/** Leaves out what belongs to a folded stage. */
function unfolded(spans: readonly Span[], folded: ReadonlySet<string>): readonly Span[] {
  let hidden = false;
  return spans.filter((span) => {
    if (span.kind === "stage") {
      hidden = folded.has(span.key);
      return true;
    }
    return !hidden;
  });
}

const stateOf = ({ failed, ended }: Span): string =>
  failed ? "failed" : ended === undefined ? "running" : "done";

function Bar({
  span,
  began,
  until,
  now,
  folded,
}: {
  readonly span: Span;
  readonly began: number;
  readonly until: number;
  readonly now: number;
  readonly folded: boolean;
}) {
  const { left, width } = barOf({ ...span, ended: span.ended ?? now }, began, until);
  const state = stateOf(span);
  return (
    <span class={`span ${span.kind} ${state}`}>
      <span class="what" title={span.name}>
        {span.kind === "stage" ? `${folded ? "▸" : "▾"} ${span.name}` : span.name}
      </span>
      <span class="took">
        {state === "running" ? "running" : tookText(span, now)}
        {state === "failed" && " failed"}
      </span>
      <span class="track" aria-hidden="true">
        <span class="mark" style={{ left: `${left}%`, width: `${width}%` }} />
      </span>
      <span class="note" title={span.note}>
        {span.note}
      </span>
    </span>
  );
}

function SpanDetail({ span, now }: { readonly span: Span; readonly now: number }) {
  const { call } = span;
  return (
    <section class="detail" aria-label={`Detail of ${span.name}`} aria-live="polite">
      <h3>{span.name}</h3>
      <Facts
        facts={[
          ["State", stateOf(span)],
          ["Began", momentText(span.began)],
          ["Took", tookText(span, now)],
          ...(span.note === undefined ? [] : ([["Note", <span class="wrap">{span.note}</span>]] as const)),
          ...(call === undefined ? [] : callFacts(call)),
        ]}
      />
      {call !== undefined && (
        <div class="exchange">
          <JsonText label="Request" value={call.request} />
          {call.error === undefined ? (
            <JsonText label="Answer" value={call.answer} />
          ) : (
            <p class="finding bad wrap">{call.error}</p>
          )}
        </div>
      )}
    </section>
  );
}

function callFacts(call: NonNullable<Span["call"]>) {
  return [
    ["To", call.to],
    ["For", call.instance ?? "no instance"],
    ...(call.request_id === undefined ? [] : [["Request id", call.request_id] as const]),
    ...(call.api_version === undefined ? [] : [["CPI API version", String(call.api_version)] as const]),
    ...(call.registry === true ? [["Registry", "the CPI was told of it"] as const] : []),
    ...(call.polls === undefined ? [] : [["Asked for the answer", `${call.polls} times`] as const]),
    ...(call.note === undefined ? [] : [["Note", call.note] as const]),
  ] as const;
}
