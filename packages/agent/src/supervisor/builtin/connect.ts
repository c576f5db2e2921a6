import { createSocket } from "node:dgram";
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Clock } from "@slipway/kernel/clock";
import { toError } from "@slipway/kernel/errors";
import type { MonitConnection, Operator } from "../monit-file/model.ts";

export const compare = (value: number, operator: Operator, limit: number): boolean => {
  if (operator === ">") return value > limit;
  if (operator === "<") return value < limit;
  return operator === "=" ? value === limit : value !== limit;
};

/** Resolves to what is wrong, or to undefined when the other side answers as it should. */
export async function testConnection(connection: MonitConnection, clock: Clock): Promise<string | undefined> {
  const { host, port, unixSocket, timeoutSeconds } = connection;
  const where = unixSocket ?? `${host}:${port}`;
  const done = new AbortController();
  try {
    return await Promise.race([
      attempt(connection, done.signal),
      clock.sleep(timeoutSeconds * 1000, done.signal).then(() => `no answer within ${timeoutSeconds} s`),
    ]).then((why) => (why === undefined ? undefined : `failed connection to ${where}: ${why}`));
  } catch (error) {
    return `failed connection to ${where}: ${toError(error).message}`;
  } finally {
    done.abort(new Error("the connection test is over"));
  }
}

async function attempt(connection: MonitConnection, over: AbortSignal): Promise<string | undefined> {
  if (connection.type === "udp") return await datagram(connection, over);
  const socket = open(connection);
  over.addEventListener("abort", () => socket.destroy(), { once: true });
  const failed = new Promise<never>((_, reject) => {
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("the connection was closed")));
  });
  failed.catch(() => undefined);
  await Promise.race([
    failed,
    new Promise((resolve) =>
      socket.once(connection.type === "tcpssl" ? "secureConnect" : "connect", resolve),
    ),
  ]);
  if (connection.protocol === "http") return await Promise.race([failed, http(connection, socket)]);
  for (const { send, expect } of connection.exchange) {
    if (send !== undefined) socket.write(send);
    if (expect === undefined) continue;
    const pattern = new RegExp(expect);
    await Promise.race([failed, heard(socket, (text) => pattern.test(text))]);
  }
  return undefined;
}

function open({ host, port, unixSocket, type }: MonitConnection): Socket {
  const to = unixSocket === undefined ? { host, port: port ?? 0 } : { path: unixSocket };
  // Whose certificate it is was never part of monit's test.
  return type === "tcpssl" ? connectTls({ ...to, rejectUnauthorized: false }) : connectPlain(to);
}

const MOST_BYTES = 64 * 1024;

/** Resolves with all that came once it is enough. */
const heard = (socket: Socket, enough: (text: string) => boolean): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      if (enough(text)) resolve(text);
      else if (text.length > MOST_BYTES) reject(new Error("the answer is not what is expected"));
    });
  });

async function http(connection: MonitConnection, socket: Socket): Promise<string | undefined> {
  const name = connection.hostHeader ?? `${connection.host || "localhost"}`;
  socket.write(
    `GET ${connection.request} HTTP/1.1\r\nHost: ${name}\r\nAccept: */*\r\nUser-Agent: slipway-agent\r\nConnection: close\r\n\r\n`,
  );
  const text = await heard(socket, (all) => /^HTTP\/\d\.\d \d{3}[^\n]*\n/.test(all));
  const code = Number(/ (\d{3})/.exec(text)?.[1] ?? 0);
  const wanted = connection.status;
  const bad = wanted === undefined ? code >= 400 : !compare(code, wanted.operator, wanted.code);
  return bad ? `HTTP status ${code}` : undefined;
}

/** Sends a datagram. An open port need not answer; a closed one refuses. */
function datagram({ host, port }: MonitConnection, over: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
    const end = (why?: string) => {
      resolve(why);
      try {
        socket.close();
      } catch {
        // Closed already.
      }
    };
    over.addEventListener("abort", () => end(), { once: true });
    socket.on("error", (error) => end(error.message));
    socket.on("message", () => end());
    socket.connect(port ?? 0, host, () => {
      // The refusal of the first comes with the second.
      socket.send("", () => socket.send("", (error) => end(error?.message)));
    });
  });
}
