import { connect } from "node:tls";
import type { Clock } from "@slipway/kernel/clock";
import { withDeadline } from "@slipway/kernel/deadline";
import { basicAuth, requestOnce } from "@slipway/kernel/http/client";
import type { AgentReply } from "@slipway/protocol/agent/envelope";
import { ANSWER_MS, Messages } from "./messages.ts";

/** Reply of an HTTP exchange, as checks see it. */
export interface AgentHttpReply {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
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
  async http(
    method: string,
    path: string,
    body = "",
    authorization = this.#basic(),
  ): Promise<AgentHttpReply> {
    const reply = await requestOnce(
      { origin: this.#endpoint.mbus, clock: this.clock, tls: { ca: this.#endpoint.ca } },
      {
        method,
        path,
        headers: { "content-type": "application/json", ...(authorization !== "" && { authorization }) },
        body,
        withinMs: ANSWER_MS,
      },
    );
    return { status: reply.status, header: reply.header, body: await reply.text() };
  }

  protected async deliver(method: string, args: readonly unknown[], protocol: number): Promise<AgentReply> {
    const envelope = { protocol, method, arguments: args, reply_to: "conformance" };
    const { status, body } = await this.http("POST", "/agent", JSON.stringify(envelope));
    if (status !== 200) throw new Error(`${method}: HTTP ${status}`);
    return JSON.parse(body) as AgentReply;
  }

  /** SHA-256 of the certificate that the agent shows: a matter of TLS alone, no request is made. */
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
    return basicAuth(decodeURIComponent(username), decodeURIComponent(password));
  }
}
