import { readlinkSync } from "node:fs";
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { BadYaml, NotAMap, YamlTooBig } from "@slipway/engine/documents/errors";
import { type SlipwayError, toError } from "@slipway/kernel/errors";
import { answerHere } from "./documents.ts";
import type { Questions } from "./questions.ts";

/** Worker data that gives the thread its role: the script is that of the whole program. */
export const ROLE = "slipway-documents";

export interface Asked {
  readonly name: keyof Questions;
  readonly question: unknown;
}

export type Answered =
  | { readonly answer: unknown }
  | { readonly code: string; readonly params: unknown }
  | { readonly bug: Error };

/** First message of a thread. `proc` is its directory in `/proc`, where the system has one. */
export interface Ready {
  readonly ready: { readonly proc: string | undefined };
}

/** Serves documents if this is a thread for that, and returns true. The program then does nothing else. */
export function servesDocuments(): boolean {
  if (isMainThread || workerData !== ROLE || parentPort === null) return false;
  const port = parentPort;
  port.postMessage({ ready: { proc: procOfThread() } } satisfies Ready);
  port.on("message", ({ name, question }: Asked) => port.postMessage(answered(name, question)));
  return true;
}

function procOfThread(): string | undefined {
  try {
    return `/proc/${readlinkSync("/proc/thread-self")}`;
  } catch {
    return undefined;
  }
}

function answered(name: keyof Questions, question: unknown): Answered {
  try {
    return { answer: answerHere(name, question as never) };
  } catch (error) {
    const known = ERRORS.find((one) => one.is(error));
    if (known !== undefined) return { code: known.code, params: known.paramsOf(error) };
    return { bug: toError(error) };
  }
}

/** Errors lose their kind between threads: these are made again of their parameters. */
const ERRORS = [BadYaml, YamlTooBig, NotAMap] as const;

export function errorOf(code: string, params: unknown): SlipwayError | undefined {
  return ERRORS.find((one) => one.code === code)?.(params as never);
}
