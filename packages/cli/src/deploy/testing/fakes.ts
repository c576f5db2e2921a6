import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import * as v from "valibot";
import type { ApiRequest, DirectorApi } from "../../api/director-api.ts";
import { homeOf } from "../../home/home.ts";
import { AllProxy } from "../../proxy/all-proxy.ts";
import type { Tools } from "../../tools.ts";
import type { Table, Ui } from "../../ui/ui.ts";

/** Requests and output, in order. */
export interface RecordedCalls {
  readonly requests: ApiRequest[];
  readonly lines: string[];
  readonly notes: string[];
  readonly tables: Table[];
  readonly questions: string[];
  readonly followed: number[];
}

export interface Scene {
  readonly deployment?: string;
  /** Answers by `METHOD /path`. */
  readonly answers?: Readonly<Record<string, unknown>>;
  readonly yes?: boolean;
  /** A person is asked, and sees the plan first. */
  readonly asks?: boolean;
  /** Lines of the event output of any task. */
  readonly events?: readonly string[];
}

/** Tools whose Director notes what it is sent. Answers cross the schemas, as real ones do. */
export function scene({ deployment, answers = {}, yes = true, asks = false, events = [] }: Scene): {
  tools: Tools;
  heard: RecordedCalls;
} {
  const heard: RecordedCalls = {
    requests: [],
    lines: [],
    notes: [],
    tables: [],
    questions: [],
    followed: [],
  };
  const answerTo = (request: ApiRequest): unknown => {
    heard.requests.push(request);
    const found = answers[`${request.method} ${request.path}`];
    if (found === undefined) throw new Error(`nobody answers ${request.method} ${request.path}`);
    return found;
  };
  const api: DirectorApi = {
    url: "https://director",
    user: "admin",
    json: async (request, schema) => v.parse(schema, answerTo(request)),
    text: async (request) => String(answerTo(request)),
    raw: () => Promise.reject(new Error("not asked for")),
    download: () => Promise.reject(new Error("not asked for")),
    begin: async (request) => Number(answerTo(request)),
    follow: async (id, options) => {
      heard.followed.push(id);
      for (const line of events) options?.onEvent?.(line);
      return { id, state: "done", result: "" };
    },
    output: () => Promise.reject(new Error("not asked for")),
  };
  const tools: Tools = {
    ui: fakeUi(heard, yes, asks),
    clock: systemClock,
    random: systemRandom,
    env: {},
    home: homeOf({ SLIPWAY_HOME: "/nowhere" }, 1),
    programs: { self: [], agent: "", registry: "", renderer: "", demo: { release: "", manifest: "" } },
    stop: new AbortController().signal,
    proxy: new AllProxy({ env: {}, clock: systemClock, random: systemRandom }),
    director: () => Promise.resolve(api),
    deployment,
    mustDeployment: () => deployment ?? "",
  };
  return { tools, heard };
}

function fakeUi(heard: RecordedCalls, yes: boolean, asks: boolean): Ui {
  const mark = (name: string) => (text: string) => `<${name}>${text}`;
  return {
    live: false,
    columns: 80,
    json: false,
    asks,
    line: (text) => void heard.lines.push(text),
    aside: (text) => void heard.lines.push(text),
    block: (text) => void heard.lines.push(text),
    table: (table) => void heard.tables.push(table),
    note: (text) => void heard.notes.push(text),
    confirm: (question) => {
      heard.questions.push(question);
      return Promise.resolve(yes);
    },
    ask: () => Promise.reject(new Error("not asked for")),
    paint: {
      bold: mark("bold"),
      dim: mark("dim"),
      green: mark("green"),
      red: mark("red"),
      yellow: mark("yellow"),
      cyan: mark("cyan"),
    },
    progress: () => ({ update: () => undefined, done: () => undefined, failed: () => undefined }),
    stream: () => undefined,
    screen: () => Promise.resolve(undefined),
  };
}
