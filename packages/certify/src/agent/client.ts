import { request } from "node:https";
import { connect } from "node:tls";
import type { Clock } from "@slipway/kernel/clock";
import { withDeadline } from "@slipway/kernel/deadline";
import type { AgentReply } from "@slipway/protocol/agent/envelope";
import { ANSWER_MS, Messages } from "./messages.ts";

/** What a check sees of an HTTP exchange. */
export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface AgentEndpoint {
  /** `https://user:password@host:port`. */
  readonly mbus: string;
  /** PEM of the authority that signed the agent's certificate. */
  readonly ca: string;
  readonly clock: Clock;
}

/** An agent over HTTPS, as the CLI and our Director talk to it: no connection is kept. */
export class AgentClient extends Messages {
  readonly #endpoint: AgentEndpoint;

  constructor(endpoint: AgentEndpoint) {
    super(endpoint.clock);
    this.#endpoint = endpoint;
  }

  /** One plain HTTP exchange. */
  http(method: string, path: string, body = "", authorization = this.#basic()): Promise<HttpReply> {
    const { hostname, port } = new URL(this.#endpoint.mbus);
    return withDeadline(`${method} ${path}`, ANSWER_MS, this.clock, undefined, (signal) => {
      return new Promise<HttpReply>((resolve, reject) => {
        const call = request(
          {
            hostname,
            port,
            method,
            path,
            ca: this.#endpoint.ca,
            agent: false,
            signal,
            headers: {
              "Content-Type": "application/json",
              "Content-Length": Buffer.byteLength(body),
              ...(authorization !== "" && { Authorization: authorization }),
            },
          },
          (response) => {
            const chunks: Buffer[] = [];
            response.on("data", (chunk: Buffer) => chunks.push(chunk));
            response.on("error", reject);
            response.on("end", () =>
              resolve({
                status: response.statusCode ?? 0,
                headers: response.headers,
                body: Buffer.concat(chunks).toString("utf8"),
              }),
            );
          },
        );
        call.on("error", reject);
        call.end(body);
      });
    });
  }

  async send(method: string, args: readonly unknown[] = [], protocol = 3): Promise<AgentReply> {
    const envelope = { protocol, method, arguments: args, reply_to: "conformance" };
    const { status, body } = await this.http("POST", "/agent", JSON.stringify(envelope));
    if (status !== 200) throw new Error(`${method}: HTTP ${status}`);
    return JSON.parse(body) as AgentReply;
  }

  /** SHA-256 of the certificate that the agent shows. */
  servedFingerprint(): Promise<string> {
    const { hostname, port } = new URL(this.#endpoint.mbus);
    return withDeadline("TLS handshake", ANSWER_MS, this.clock, undefined, () => {
      return new Promise<string>((resolve, reject) => {
        const socket = connect({ host: hostname, port: Number(port), ca: this.#endpoint.ca }, () => {
          resolve(socket.getPeerCertificate().fingerprint256);
          socket.destroy();
        });
        socket.on("error", reject);
      });
    });
  }

  #basic(): string {
    const { username, password } = new URL(this.#endpoint.mbus);
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return `Basic ${Buffer.from(pair).toString("base64")}`;
  }
}
