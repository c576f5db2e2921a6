import { createServer, type Server, type Socket } from "node:net";
import { messageTrail } from "@slipway/kernel/errors";
import type { AgentServices } from "../../services.ts";
import { alertOf, type MonitEvent } from "../alerts.ts";

export interface ListenerParts extends Pick<AgentServices, "clock" | "random" | "log" | "publish"> {
  readonly port: number;
  readonly ips: () => readonly string[];
}

const LONGEST = 64 * 1024;
const LONGEST_MS = 60_000;

/** Takes the mails that monit sends about its services, as upstream does, and passes them on as alerts. */
export class AlertListener {
  readonly #parts: ListenerParts;
  #server: Server | undefined;
  readonly #sockets = new Set<Socket>();

  constructor(parts: ListenerParts) {
    this.#parts = parts;
  }

  async open(): Promise<void> {
    const server = createServer((socket) => this.#serve(socket));
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.#parts.port, "127.0.0.1", resolve);
    });
    server.on("error", (error) => this.#parts.log.warn(`alerts of monit: ${error.message}`));
    this.#server = server;
  }

  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    const cancel = this.#parts.clock.after(LONGEST_MS, () => socket.destroy());
    socket.on("close", () => {
      cancel();
      this.#sockets.delete(socket);
    });
    socket.on("error", () => socket.destroy());
    let unread = "";
    let mail: string[] | undefined;
    let length = 0;
    const say = (line: string) => socket.write(`${line}\r\n`);
    say("220 localhost slipway-agent");
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      unread += chunk;
      length += chunk.length;
      if (length > LONGEST) return socket.destroy();
      const lines = unread.split(/\r?\n/);
      unread = lines.pop() ?? "";
      for (const line of lines) {
        if (mail === undefined) {
          if (/^data\b/i.test(line)) {
            mail = [];
            say("354 go on");
          } else if (/^quit\b/i.test(line)) {
            say("221 bye");
            socket.end();
          } else say("250 ok");
        } else if (line === ".") {
          this.#tell(mail);
          mail = undefined;
          length = 0;
          say("250 taken");
        } else mail.push(line.replace(/^\.\./, "."));
      }
    });
  }

  #tell(mail: readonly string[]): void {
    const { clock, random, log, publish, ips } = this.#parts;
    const event = eventIn(mail, clock.now(), `${random.hex(8)}@localhost`);
    if (event === undefined) log.warn("monit sent a mail that is no alert");
    const alert = event === undefined ? undefined : alertOf(event, ips());
    if (alert === undefined) return;
    publish("alert", alert).catch((error: unknown) =>
      log.warn(`an alert could not be sent (${alert.title}): ${messageTrail(error)}`),
    );
  }
}

/** The mail format of upstream's stemcells. */
export function eventIn(mail: readonly string[], now: number, ownId: string): MonitEvent | undefined {
  const field = (name: string): string | undefined => {
    const found = mail.find((line) => line.trim().toLowerCase().startsWith(`${name}:`));
    return found?.slice(found.indexOf(":") + 1).trim();
  };
  const service = field("service");
  const event = field("event");
  if (!service || !event) return undefined;
  const date = Date.parse(field("date") ?? "");
  return {
    id: field("message-id")?.replace(/[<>]/g, "") || ownId,
    service,
    event,
    action: field("action") ?? "",
    description: field("description") ?? "",
    createdAt: Math.floor((Number.isNaN(date) ? now : date) / 1000),
  };
}
