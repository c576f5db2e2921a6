import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { messageTrail } from "@slipway/kernel/errors";
import { type HttpReply, HttpTrouble, requestOnce } from "@slipway/kernel/http/client";
import type { DirectorApi } from "../api/director-api.ts";
import { piece } from "../api/request-path.ts";
import type { Tools } from "../tools.ts";
import { DEPLOYMENT, GROUP } from "./documents.ts";
import { PageSilent, PromiseBroken } from "./errors.ts";
import type { DemoVm } from "./vm.ts";

/** What the job listens on unless it is told otherwise, and the name in its certificate. */
const PORT = 8443;
const NAME = "counter";
const WITHIN_MS = 15_000;
const LARGEST = 1 << 20;

export interface Page {
  /** What it says, without its tags. */
  readonly text: string;
  readonly count: number;
}

export const pageUrl = ({ ip }: Pick<DemoVm, "ip">): string => `https://${ip}:${PORT}`;

/** How somebody else asks for it, who has the authority in a file. */
export const curlLine = ({ ip }: Pick<DemoVm, "ip">, ca: string): string =>
  `curl --cacert ${ca} --resolve ${NAME}:${PORT}:${ip} https://${NAME}:${PORT}`;

/** The authority that signed the page's certificate: the job has put it on its disk. Kept in a file for others. */
export async function pageAuthority(api: DirectorApi, vm: DemoVm, file: string): Promise<string> {
  const path = `/deployments/${DEPLOYMENT}/instance_groups/${GROUP}/${piece(vm.instance)}/store`;
  const ca = await api.text({ method: "GET", path, query: { path: "counter/ca.crt" } });
  await writeFileAtomic(file, ca);
  return ca;
}

export const authorityFile = (dir: string): string => join(dir, "ca.crt");

/** What a browser would show. Whoever answers must have the generated certificate. */
export async function readPage(
  vm: DemoVm,
  ca: string,
  { clock, stop }: Pick<Tools, "clock" | "stop">,
): Promise<Page> {
  const origin = pageUrl(vm);
  const body = await ask().catch((error: unknown) => {
    if (!(error instanceof HttpTrouble)) throw error;
    throw PageSilent({ url: origin, why: messageTrail(error) }, { cause: error });
  });
  const text = textOf(body);
  const count = /Visits: (\d+)/.exec(text)?.[1];
  if (count === undefined) throw PromiseBroken({ what: `the page shows no count, but "${text}"` });
  return { text, count: Number(count) };

  async function ask(): Promise<string> {
    const reply: HttpReply = await requestOnce(
      { origin, clock, tls: { ca, servername: NAME } },
      { method: "GET", path: "/", withinMs: WITHIN_MS, largest: LARGEST, signal: stop },
    );
    return await reply.text();
  }
}

const textOf = (html: string): string =>
  html
    .split("\n")
    .map((line) => line.replaceAll(/<[^<>]*>/g, "").trim())
    .filter((line) => line !== "")
    .join(", ");
