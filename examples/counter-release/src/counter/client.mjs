import { request } from "node:https";

/** One request to the counter: the status, and what its JSON says. The server proves that it is the counter. */
export function ask({ address, port, ca }, method, path, password) {
  return new Promise((resolve, reject) => {
    const options = { host: address, port, method, path, ca, servername: "counter", timeout: 10_000 };
    const headers = password === undefined ? {} : { authorization: `Bearer ${password}` };
    const asked = request({ ...options, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece) => {
        text += piece;
      });
      response.on("end", () => resolve({ status: response.statusCode, text }));
      response.on("error", reject);
    });
    asked.on("timeout", () => asked.destroy(new Error("no answer within 10 s")));
    asked.on("error", reject);
    asked.end();
  });
}
