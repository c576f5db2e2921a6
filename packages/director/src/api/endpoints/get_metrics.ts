import { metricsText } from "../../health/metrics.ts";
import { endpoint } from "../route.ts";

/** For Prometheus, which logs in as any other caller. */
export const getMetrics = endpoint({}, (_call, { health }) =>
  Promise.resolve({
    status: 200,
    headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
    body: metricsText(health?.snapshot()),
  }),
);
