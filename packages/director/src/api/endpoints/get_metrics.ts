import { healthMetrics } from "../../health/metrics.ts";
import { Exposition } from "../../metrics/exposition.ts";
import { endpoint } from "../route.ts";

/** Serves metrics to Prometheus, which logs in as any other caller. */
export const getMetrics = endpoint({}, async (_call, { health, metrics }) => {
  const told = new Exposition();
  await metrics?.(told);
  healthMetrics(health?.snapshot(), told);
  return {
    status: 200,
    headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
    body: told.text,
  };
});
