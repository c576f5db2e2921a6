import { expect, it } from "vitest";
import { proxyFor } from "./proxy.ts";

const PROXIES = { http: "http://plain:3128", https: "http://u:p@tunnel:3128" };

it.each([
  ["http://a.example/x", "", "plain:3128"],
  ["https://a.example/x", "", "tunnel:3128"],
  ["https://a.example/x", "other.example", "tunnel:3128"],
  ["https://notexample.com/x", "example.com", "tunnel:3128"],
  ["https://a.example.com/x", "example.com", undefined],
  ["https://A.example.com/x", ".EXAMPLE.com, b", undefined],
  ["https://a.example.com/x", "*.example.com", undefined],
  ["https://a.example:8443/x", "a.example:443", "tunnel:3128"],
  ["https://a.example:8443/x", "a.example:8443", undefined],
  ["https://10.1.2.3/x", "10.0.0.0/8", undefined],
  ["https://11.1.2.3/x", "10.0.0.0/8", "tunnel:3128"],
  ["https://[fd00::7]/x", "fd00::/8", undefined],
  ["https://[fd00::7]:8443/x", "[fd00::7]:8443", undefined],
  ["https://1.10.0.0.1.example/x", "10.0.0.1", "tunnel:3128"],
  ["https://a.example/x", "*", undefined],
  ["http://localhost:8080/x", "", undefined],
  ["http://127.0.0.1:8080/x", "", undefined],
  ["http://[::1]/x", "", undefined],
])("%s, with no proxy for '%s', goes through %s", (url, noProxy, host) =>
  expect(proxyFor(new URL(url), { ...PROXIES, noProxy })?.host).toBe(host),
);

it("asks directly where there is no proxy, or none that can be read", () => {
  expect(proxyFor(new URL("http://a.example"), { https: "http://tunnel:1" })).toBeUndefined();
  expect(proxyFor(new URL("http://a.example"), { http: "" })).toBeUndefined();
  expect(proxyFor(new URL("http://a.example"), { http: "http://" })).toBeUndefined();
  expect(proxyFor(new URL("http://a.example"), { http: "plain:3128" })?.host).toBe("plain:3128");
});
