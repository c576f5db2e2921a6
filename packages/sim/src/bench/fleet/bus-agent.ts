import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as secure, type TLSSocket } from "node:tls";
import type { Clock } from "@slipway/kernel/clock";
import { agentSubject, heartbeatSubject } from "@slipway/protocol/agent/subjects";
import { type FleetAgent, type FleetAnswers, type FleetMessage, heartbeatText } from "./fleet-agent.ts";
import type { MbusEnv } from "./orders.ts";

export interface BusAgentOptions {
  readonly id: string;
  readonly port: number;
  readonly cert: MbusEnv["cert"];
  readonly answers: FleetAnswers;
  readonly clock: Clock;
}

const AGAIN_MS = 1_000;
const CONNECT = {
  ...{ verbose: false, pedantic: false, tls_required: true, lang: "node", version: "1", protocol: 1 },
  ...{ headers: true, no_responders: true },
};

/** A client of a NATS server that costs little: what thousands in a process can afford. */
export class BusAgent implements FleetAgent {
  readonly #options: BusAgentOptions;
  readonly #beat: string;
  #cert: MbusEnv["cert"];
  #socket: TLSSocket | undefined;
  #unread: Buffer = Buffer.alloc(0);
  #ended = false;

  constructor(options: BusAgentOptions) {
    this.#options = options;
    this.#cert = options.cert;
    this.#beat = publish(heartbeatSubject(options.id), heartbeatText(options.id));
  }

  /** Connects like an agent that comes up: again and again, until the server knows it. */
  async start(): Promise<void> {
    while (!this.#ended)
      try {
        await this.#connect();
        return;
      } catch {
        await this.#options.clock.sleep(AGAIN_MS);
      }
  }

  /** Resolves when the server has taken its subscription. */
  async #connect(): Promise<void> {
    const { id, port, clock } = this.#options;
    const plain = connect(port, "127.0.0.1");
    await greeting(plain);
    const { ca, certificate: cert, private_key: key } = this.#cert;
    const socket = secure({ socket: plain, ca, cert, key, checkServerIdentity: () => undefined });
    await once(socket, "secureConnect");
    this.#socket = socket;
    this.#unread = Buffer.alloc(0);
    let isOn = false;
    const subscribed = new Promise<void>((resolve, reject) => {
      const pong = () => {
        isOn = true;
        resolve();
      };
      socket.on("data", (data: Buffer) => this.#take(data, pong));
      socket.on("error", reject);
      socket.on("close", () => {
        reject(new Error("the NATS server does not take it"));
        if (!isOn || this.#ended || this.#socket !== socket) return;
        void clock.sleep(AGAIN_MS).then(() => this.start());
      });
    });
    socket.write(
      `CONNECT ${JSON.stringify({ ...CONNECT, name: id })}\r\nSUB ${agentSubject(id)} 1\r\nPING\r\n`,
    );
    await subscribed;
  }

  beat(): void {
    this.#socket?.write(this.#beat);
  }

  end(): void {
    this.#ended = true;
    this.#socket?.destroy();
  }

  #take(data: Buffer, pong: () => void): void {
    this.#unread = this.#unread.length === 0 ? data : Buffer.concat([this.#unread, data]);
    for (;;) {
      const end = this.#unread.indexOf("\r\n");
      if (end === -1) return;
      const line = this.#unread.toString("latin1", 0, end);
      const size = line.startsWith("MSG ") ? Number(line.slice(line.lastIndexOf(" ") + 1)) + 2 : 0;
      if (this.#unread.length < end + 2 + size) return;
      const body = this.#unread.subarray(end + 2, end + 2 + size);
      this.#unread = this.#unread.subarray(end + 2 + size);
      if (line === "PING") this.#socket?.write("PONG\r\n");
      else if (line === "PONG") pong();
      else if (size > 0) this.#answer(JSON.parse(body.toString()) as FleetMessage);
    }
  }

  #answer({ method, arguments: args, reply_to }: FleetMessage): void {
    const value = this.#options.answers.to(method, args);
    this.#socket?.write(publish(reply_to, JSON.stringify({ value })));
    const { mbus } = (method === "update_settings" ? (args[0] ?? {}) : {}) as { mbus?: Partial<MbusEnv> };
    if (mbus?.cert === undefined) return;
    // The one it came up with is good for nothing from now on.
    this.#cert = mbus.cert;
    const before = this.#socket;
    this.#socket = undefined;
    before?.end();
    void this.start();
  }
}

const publish = (subject: string, text: string): string =>
  `PUB ${subject} ${Buffer.byteLength(text)}\r\n${text}\r\n`;

/** The server speaks first, before anything is encrypted. */
function greeting(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    const take = (data: Buffer) => {
      said += data.toString("latin1");
      if (!said.includes("\r\n")) return;
      socket.off("data", take);
      socket.pause();
      resolve();
    };
    socket.on("data", take);
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("the NATS server says nothing")));
  });
}
