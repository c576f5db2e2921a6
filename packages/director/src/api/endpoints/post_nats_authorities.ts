import { renewCertificatesParams } from "@slipway/protocol/director/task-params";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";

/** Ours: another authority takes over on NATS, and every agent gets a certificate of it. */
export const postNatsAuthorities = endpoint({}, (call, services) =>
  startTask(call, services, renewCertificatesParams, {
    type: "renew_certificates",
    description: "rotate the authority of NATS",
    params: { rotate_nats_ca: "now" },
  }),
);
