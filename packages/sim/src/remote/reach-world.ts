import { connect } from "node:net";
import { createInterface } from "node:readline";
import type { CpiRequest, CpiResponse } from "@slipway/protocol/cpi/envelope";
import type { SimAnswer } from "../world/sim-agent.ts";
import type { AskSim } from "../world/sim-agents.ts";
import type { FromWorld } from "./messages.ts";

export interface RemoteWorld {
  readonly cpi: (request: CpiRequest, of?: string) => Promise<CpiResponse>;
  readonly ask: AskSim;
  close(): void;
}

/** The world of another process. */
export async function reachWorld(path: string): Promise<RemoteWorld> {
  const socket = connect(path);
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  const waiting = new Map<number, (reply: FromWorld) => void>();
  let last = 0;
  createInterface({ input: socket }).on("line", (line) => {
    const reply = JSON.parse(line) as FromWorld;
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
  });
  const send = (message: object): Promise<FromWorld> =>
    new Promise((resolve) => {
      last += 1;
      waiting.set(last, resolve);
      socket.write(`${JSON.stringify({ id: last, ...message })}\n`);
    });
  return {
    cpi: async (request, of) =>
      ((await send({ cpi: request, of })) as { readonly response: CpiResponse }).response,
    ask: async (agent, method, args) =>
      ((await send({ agent, method, args })) as { readonly answer: SimAnswer }).answer,
    close: () => socket.destroy(),
  };
}
