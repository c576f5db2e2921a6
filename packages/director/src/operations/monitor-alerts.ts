import { messageTrail } from "@slipway/kernel/errors";
import { oneLine } from "../tasks/failure.ts";
import type { TaskContext } from "../tasks/task.ts";
import type { OperationContext } from "./operation.ts";

/** Alert about a deployment for upstream's health monitor, with upstream's fields and words. */
export interface MonitorAlert {
  readonly id: string;
  /** 3 error, 4 warning. */
  readonly severity: 3 | 4;
  readonly source: "director";
  readonly title: string;
  readonly summary: string;
  /** Seconds since 1970. */
  readonly created_at: number;
  readonly deployment: string;
}

/** Sends an alert without waiting for it. Does not throw. */
export type TellMonitors = (alert: MonitorAlert) => void;

type Tools = Pick<OperationContext, "tellMonitors" | "clock" | "random" | "settings">;

interface Said {
  readonly title: string;
  readonly summary: string;
}

/** Texts of the alerts about one kind of work. */
export interface Words {
  readonly begin: Said;
  readonly finish: Said;
  readonly error: (why: string) => Said & { readonly severity: 3 | 4 };
}

export function deploymentWords(name: string, { settings }: Tools): Words {
  const said = (what: string) => ({
    title: `director - ${what} update deployment`,
    summary: `${capital(what)} update deployment for '${name}' against Director '${settings.directorUuid}'`,
  });
  return {
    begin: said("begin"),
    finish: said("finish"),
    error: (why) => {
      const { title, summary } = said("error during");
      return { title, summary: `${summary}: ${why}`, severity: 3 };
    },
  };
}

/**
 * Returns the texts for an action on an instance. As upstream, a failed action has finished, too: the end of the task says how.
 */
export function instanceWords(action: string, instance: string, { settings }: Tools): Words {
  const said = (what: string) => ({
    title: `director - ${what} '${action}' instance '${instance}'`,
    summary: `${capital(what)} action '${action}' for instance '${instance}' against Director '${settings.directorUuid}'`,
  });
  return {
    begin: said("begin"),
    finish: said("finish"),
    error: () => ({ ...said("finish"), severity: 4 }),
  };
}

/**
 * Says that it begins, unless a run before has; and when the task has ended, what came of it. A run that is gone on with
 * elsewhere says nothing. What is returned takes the failure.
 */
export function tellOfWork(words: Words, deployment: string, task: TaskContext, tools: Tools) {
  let failure: { readonly error: unknown } | undefined;
  const tell = (said: Said, severity: 3 | 4 = 4) => send({ ...said, severity }, deployment, tools);
  if (task.attempt === 1) tell(words.begin);
  task.atEnd(() => {
    if (failure === undefined) tell(words.finish);
    else {
      const { severity, ...said } = words.error(oneLine(messageTrail(failure.error)));
      tell(said, severity);
    }
    return Promise.resolve();
  });
  return (error: unknown): void => {
    failure = { error };
  };
}

export const tellOfSnapshotFailure = (instance: string, error: unknown, deployment: string, tools: Tools) =>
  send(
    {
      severity: 3,
      title: "director - snapshot failure",
      summary: `failed to snapshot ${instance}: ${oneLine(messageTrail(error))}`,
    },
    deployment,
    tools,
  );

function send(
  said: Pick<MonitorAlert, "severity" | "title" | "summary">,
  deployment: string,
  tools: Tools,
): void {
  const { tellMonitors, clock, random } = tools;
  const created_at = Math.floor(clock.now() / 1000);
  tellMonitors?.({ id: random.uuid(), source: "director", created_at, deployment, ...said });
}

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
