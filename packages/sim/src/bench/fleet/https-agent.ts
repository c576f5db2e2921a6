import { once } from "node:events";
import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { createServer, type TLSSocket } from "node:tls";
import type { FleetAgent, FleetAnswers, FleetMessage } from "./fleet-agent.ts";
import type { MbusEnv } from "./orders.ts";

export interface HttpsAgentOptions {
  readonly ip: string;
  readonly port: number;
  readonly cert: MbusEnv["cert"];
  readonly answers: FleetAnswers;
}

/** Listens as an agent does, with mutual TLS; HTTP is understood by one server for all. */
export class HttpsAgents {
  readonly #answersOn = new WeakMap<object, FleetAnswers>();
  readonly #http: HttpServer;

  constructor() {
    this.#http = createHttpServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on("data", (piece: Buffer) => pieces.push(piece));
      request.on("end", () => {
        const { method, arguments: args } = JSON.parse(Buffer.concat(pieces).toString()) as FleetMessage;
        const value = this.#answersOn.get(request.socket)?.to(method, args);
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ value }));
      });
    });
    this.#http.keepAliveTimeout = 60_000;
  }

  async start({ ip, port, cert, answers }: HttpsAgentOptions): Promise<FleetAgent> {
    const sockets = new Set<TLSSocket>();
    const server = createServer({
      ...{ ca: cert.ca, cert: cert.certificate, key: cert.private_key },
      ...{ requestCert: true, rejectUnauthorized: true },
    });
    server.on("secureConnection", (socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
      this.#answersOn.set(socket, answers);
      this.#http.emit("connection", socket);
    });
    server.listen(port, ip);
    await once(server, "listening");
    return {
      end: () => {
        server.close();
        for (const socket of sockets) socket.destroy();
      },
    };
  }
}
