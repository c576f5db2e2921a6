import { systemRandom } from "@slipway/kernel/random";
import type { CpiRequest, CpiResponse } from "@slipway/protocol/cpi/envelope";
import type { AgentId, DiskCid, RequestId, StemcellCid, VmCid } from "@slipway/protocol/ids";
import type { CallOptions, CreateVmArguments } from "../cloud.ts";
import { cpiCloud } from "../cpi-cloud.ts";
import type { CpiPort, CpiPortOptions } from "../cpi-port.ts";
import type { CpiSessionOptions } from "../cpi-session.ts";
import { DIRECTOR, logBook } from "./cpi-files.ts";

export const VM = "vm-7" as VmCid;
export const DISK = "disk-9" as DiskCid;
export const STEMCELL = "img-17" as StemcellCid;

export const NETWORKS = {
  private: {
    type: "manual" as const,
    ip: "10.0.4.9",
    netmask: "255.255.255.0",
    gateway: "10.0.4.1",
    cloud_properties: { net: "n-1" },
  },
};

export const createArgs = (more: Partial<CreateVmArguments> = {}): CreateVmArguments => ({
  agentId: "8a1c0d8e" as AgentId,
  stemcellCid: STEMCELL,
  cloudProperties: { cpu: 2 },
  networks: NETWORKS,
  diskCids: [DISK],
  env: { bosh: { group: "g" } },
  ...more,
});

export const ok = (result: unknown): CpiResponse => ({ result: result as never, error: null, log: "" });
export const no = (type: string, message = "no", okToRetry = false): CpiResponse => ({
  result: null as never,
  error: { type, message, ok_to_retry: okToRetry },
  log: "",
});

type Answer =
  | CpiResponse
  | ((request: CpiRequest, options: CpiPortOptions) => CpiResponse | Promise<CpiResponse>);

/** A cloud whose CPI gives these answers; what it is sent is kept as it would travel. */
export function cloudOf(answers: Readonly<Record<string, Answer>>, options: Partial<CpiSessionOptions> = {}) {
  const sent: CpiRequest[] = [];
  const callOptions: CpiPortOptions[] = [];
  const port: CpiPort = {
    command: "/the/cpi",
    call: async (request, portOptions) => {
      sent.push(JSON.parse(JSON.stringify(request)) as CpiRequest);
      callOptions.push(portOptions);
      const answer = answers[request.method] ?? ok(null);
      return typeof answer === "function" ? await answer(request, portOptions) : answer;
    },
  };
  const book = logBook();
  const cloud = cpiCloud({ name: "", port, directorUuid: DIRECTOR, random: systemRandom, ...options });
  const call = (more: Partial<CallOptions> = {}): CallOptions => ({
    requestId: "cpi-482913" as RequestId,
    log: book.log,
    ...more,
  });
  return { cloud, sent, callOptions, book, call, last: () => sent.at(-1) as CpiRequest };
}

export const info = (version: number | undefined, capabilities?: object) =>
  ok({
    stemcell_formats: ["a-tar"],
    ...(version !== undefined && { api_version: version }),
    ...(capabilities !== undefined && { capabilities }),
  });
