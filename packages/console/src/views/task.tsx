import { task } from "@slipway/protocol/director/task";
import { useMemo, useState } from "preact/hooks";
import * as v from "valibot";
import { browser } from "../api/browser.ts";
import { useClient, useLive } from "../api/live.ts";
import { type Output, useOutput } from "../api/output.ts";
import { timelineOf } from "../model/timeline.ts";
import { Action } from "../parts/action.tsx";
import { Command, Commands } from "../parts/command.tsx";
import { Facts } from "../parts/facts.tsx";
import { LongList } from "../parts/long-list.tsx";
import { Loaded, Panel, Trouble } from "../parts/panel.tsx";
import { Moment } from "../parts/time.tsx";
import { hrefOf } from "./route.ts";
import { mayChange, useSession } from "./session.ts";
import { RUNNING, secondsText, TaskBadge, tookOf } from "./task-row.tsx";
import { TimelineView } from "./timeline.tsx";

type Task = v.InferOutput<typeof task>;

const PARTS = ["timeline", "result", "debug", "cpi"] as const;
const NAMES = { timeline: "timeline", result: "result", debug: "debug log", cpi: "CPI log" };

/** A task, while it runs and afterwards. */
export function TaskView({ id, part }: { readonly id: number; readonly part: string }) {
  const live = useLive(`/tasks/${id}`, task);
  return (
    <Loaded of={live}>
      {(now) => (
        <>
          <Head now={now} />
          <nav class="parts" aria-label={`Parts of task ${id}`}>
            {PARTS.map((entry) => (
              <a
                key={entry}
                href={hrefOf("tasks", id, entry)}
                aria-current={entry === part ? "page" : undefined}
              >
                {NAMES[entry]}
              </a>
            ))}
          </nav>
          {part === "timeline" && <Steps now={now} />}
          {part === "result" && <Log now={now} type="result" />}
          {part === "debug" && <Log now={now} type="debug" />}
          {part === "cpi" && <Log now={now} type="cpi" />}
        </>
      )}
    </Loaded>
  );
}

const hasEnded = ({ state }: Task): boolean => !RUNNING.includes(state);

function Head({ now }: { readonly now: Task }) {
  const session = useSession();
  const client = useClient();
  const [trouble, setTrouble] = useState("");
  const { id, state, description, deployment, user, result } = now;
  const took = tookOf(now);
  const cancel = async () => {
    const answer = await client.change("DELETE", `/task/${id}`, v.unknown());
    // The Director answers with text, which is no document.
    if (answer.kind === "problem" && answer.problem.kind !== "failed") setTrouble(answer.problem.why);
  };
  return (
    <>
      <h1>
        Task {id} <TaskBadge state={state} />
      </h1>
      <p class="lead">{description}</p>
      {state === "error" && result != null && <p class="finding bad wrap">{result}</p>}
      <Facts
        facts={[
          [
            "Deployment",
            deployment == null ? "none" : <a href={hrefOf("deployments", deployment)}>{deployment}</a>,
          ],
          ["User", user ?? "unknown"],
          ["Began", <Moment key="began" at={now.started_at == null ? undefined : now.started_at * 1000} />],
          [RUNNING.includes(state) ? "Runs for" : "Took", took === undefined ? "unknown" : secondsText(took)],
        ]}
      />
      <Commands texts={[`slipway task ${id}`, `slipway explain --task ${id}`]} />
      {["queued", "processing"].includes(state) && mayChange(session) && (
        <Action
          label="Cancel task"
          question={`Cancel task ${id}? It ends after the steps that are under way.`}
          command={`slipway cancel-task ${id}`}
          onConfirm={() => void cancel()}
        />
      )}
      <p role="alert" class="trouble">
        {trouble}
      </p>
    </>
  );
}

function Steps({ now }: { readonly now: Task }) {
  const session = useSession();
  const ended = hasEnded(now);
  const events = useOutput(now.id, "event", true, ended);
  // Those who may not read it are not asked to: the Director refuses each time.
  const reader = session.info.slipway?.access;
  const mayAsk = reader === undefined || reader.admin || reader.admin_of.length > 0;
  const calls = useOutput(now.id, "conversation", mayAsk, ended);
  const timeline = useMemo(() => timelineOf(events.lines, calls.lines), [events.lines, calls.lines]);
  const hidden = !mayAsk || calls.problem?.kind === "forbidden";
  return (
    <Panel
      title="Timeline"
      note={timeline.runs > 1 && `taken up ${timeline.runs} times: the Director was interrupted`}
    >
      {events.problem !== undefined && <Trouble problem={events.problem} />}
      {hidden && <p class="faint">Calls to CPIs and agents are shown to administrators of the deployment.</p>}
      {timeline.messages.map(({ kind, text }, at) => (
        <p key={at} class={`finding wrap ${kind === "error" ? "bad" : "warning"}`}>
          {text}
        </p>
      ))}
      <TimelineView
        timeline={timeline}
        ended={ended}
        until={ended ? (timeline.ended ?? 0) : Math.max(browser.now(), timeline.ended ?? 0)}
      />
    </Panel>
  );
}

const LINE_PX = 19;
const SHOWN_LINES = 34;

const COMMANDS = { result: "--result", debug: "--debug", cpi: "--cpi" } as const;

function Log({ now, type }: { readonly now: Task; readonly type: keyof typeof COMMANDS }) {
  const output: Output = useOutput(now.id, type, true, hasEnded(now));
  const { lines, problem } = output;
  return (
    <Panel title={NAMES[type]} note={<Command text={`slipway task ${now.id} ${COMMANDS[type]}`} />}>
      {problem !== undefined && <Trouble problem={problem} />}
      {problem === undefined && lines.length === 0 ? (
        <p class="faint">Nothing was written.</p>
      ) : (
        <LongList
          label={`Lines of the ${NAMES[type]}`}
          count={lines.length}
          follow={!hasEnded(now)}
          rowPx={LINE_PX}
          shown={SHOWN_LINES}
          row={(index) => <span class="line">{lines[index]}</span>}
        />
      )}
    </Panel>
  );
}
