import { expect, it } from "vitest";
import { withEnvironment } from "./configuration.ts";

it("takes proxies as most programs do", () => {
  const env = {
    http_proxy: "http://small:1",
    HTTP_PROXY: "http://large:1",
    HTTPS_PROXY: "http://s:1",
    NO_PROXY: "a,b",
  };
  expect(withEnvironment({}, env).proxy).toEqual({
    http: "http://small:1",
    https: "http://s:1",
    no_proxy: "a,b",
  });
  expect(withEnvironment({}, { no_proxy: "a" })).toEqual({});
  expect(withEnvironment({ proxy: {} }, env).proxy).toEqual({});
});

it("takes a collector of OpenTelemetry, if it is asked for the protocol that is spoken here", () => {
  const endpoint = "https://collector:4318";
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: "a=b%20c,d=e=f" };
  expect(withEnvironment({}, env)).toEqual({});
  const spoken = { ...env, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json", OTEL_SERVICE_NAME: "mine" };
  const otlp = { endpoint, headers: { a: "b c", d: "e=f" } };
  expect(withEnvironment({}, spoken).tracing).toEqual({ otlp, service_name: "mine" });
  expect(withEnvironment({}, { ...spoken, OTEL_SDK_DISABLED: "true" })).toEqual({});
  const own = { otlp: { endpoint: "https://own" } };
  expect(withEnvironment({ tracing: own }, spoken).tracing).toEqual(own);
});
