// `npm ci`, for somebody who watches: progress, npm's own words as they come, an end when told to, and the cause of a
// failure by name.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";

const KEPT = 64 * 1024;
const STOPS_WITHIN_MS = 500;
const PROGRESS_MS = 500;
const ARGS = [
  ...["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
  // A network that does not work is said soon, not after minutes of trying.
  ...["--fetch-retries=2", "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=3000"],
];

/** Resolves to undefined, or to what went wrong. A signal ends the process. */
export async function installPackages() {
  const fits = (list, here) => list === undefined || list.includes(here);
  const wanted = Object.entries(JSON.parse(readFileSync("package-lock.json", "utf8")).packages).flatMap(
    ([path, { os, cpu, libc, link }]) =>
      path.startsWith("node_modules/") &&
      !link &&
      fits(os, process.platform) &&
      fits(cpu, process.arch) &&
      fits(libc, "glibc")
        ? [path]
        : [],
  );
  let output = "";
  // A group of its own: npm does not end at once when a terminal tells it to, its group does.
  const child = spawn("npm", ARGS, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  const progress = showProgress(wanted);
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      progress.clear();
      process.stderr.write(chunk);
      output = (output + chunk).slice(-KEPT);
    });
  const stop = (signal) => {
    progress.end();
    process.stderr.write("slipway: stopped. What is installed so far is used or replaced by the next run.\n");
    killGroup(child.pid, "SIGTERM");
    setTimeout(() => {
      killGroup(child.pid, "SIGKILL");
      process.exit(128 + constants.signals[signal]);
    }, STOPS_WITHIN_MS);
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, stop);
  const code = await new Promise((resolve) => {
    child.on("error", (error) => {
      output = `npm cannot be started: ${error.message}`;
      resolve(1);
    });
    // Not "exit": its last words may come after that.
    child.on("close", (status, signal) => resolve(status ?? 128 + constants.signals[signal]));
  });
  for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, stop);
  progress.end();
  return code === 0 ? undefined : causeOf(output, process.env);
}

function killGroup(pid, signal) {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // It has ended.
  }
}

/** How many packages are there, in one line that changes; on something that is no terminal, every tenth of them. */
function showProgress(wanted) {
  const terminal = process.stderr.isTTY === true;
  let shown = false;
  let tenth = 0;
  const clear = () => {
    if (shown) process.stderr.write("\r\x1b[2K");
    shown = false;
  };
  const tell = () => {
    const there = wanted.filter((path) => existsSync(`${path}/package.json`)).length;
    const text = `slipway: ${there} of ${wanted.length} packages`;
    if (terminal) {
      clear();
      process.stderr.write(text);
      shown = true;
    } else if (Math.floor((10 * there) / wanted.length) > tenth) {
      tenth = Math.floor((10 * there) / wanted.length);
      process.stderr.write(`${text}\n`);
    }
  };
  const timer = setInterval(tell, PROGRESS_MS);
  return {
    clear,
    end: () => {
      clearInterval(timer);
      clear();
    },
  };
}

const CERTIFICATE =
  /SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE|CERT_HAS_EXPIRED|CERT_NOT_YET_VALID|ERR_TLS_CERT_ALTNAME_INVALID/;

/** Why npm failed and what helps, from what it printed. */
export function causeOf(output, env) {
  const proxy = env.HTTPS_PROXY ?? env.https_proxy ?? env.npm_config_https_proxy ?? env.npm_config_proxy;
  const host = /(?:request to|at) https?:\/\/([^/\s:]+)/.exec(output)?.[1] ?? "the package registry";
  const through = proxy ? `, through the proxy ${withoutPassword(proxy)}` : "";
  const certificate = CERTIFICATE.exec(output)?.[0];
  if (certificate !== undefined)
    return `the certificate of ${host}${through} is not trusted (${certificate}). Where a proxy signs what passes, give its authority: npm config set cafile FILE, or NODE_EXTRA_CA_CERTS=FILE.`;
  if (/\bE407\b|Proxy Authentication Required|407 /.test(output))
    return `the proxy${proxy ? ` ${withoutPassword(proxy)}` : ""} wants a name and a password: npm config set https-proxy http://NAME:PASSWORD@HOST:PORT.`;
  if (/\b(ENOTFOUND|EAI_AGAIN)\b/.test(output))
    return proxy
      ? `a name cannot be resolved on the way to ${host}${through}. Correct the proxy (HTTPS_PROXY, npm config get https-proxy).`
      : `the name of ${host} cannot be resolved. Without a network nothing can be installed; behind a proxy: npm config set https-proxy http://HOST:PORT.`;
  if (
    /\b(ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET_TIMEOUT|EHOSTUNREACH|ENETUNREACH|EPROTO)\b/.test(output)
  ) {
    const code =
      /\b(ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET_TIMEOUT|EHOSTUNREACH|ENETUNREACH|EPROTO)\b/.exec(
        output,
      )?.[0];
    return proxy
      ? `no connection to ${host}${through} (${code}). Correct the proxy (HTTPS_PROXY, npm config get https-proxy), or unset it.`
      : `no connection to ${host} (${code}). Behind a proxy: npm config set https-proxy http://HOST:PORT. Another registry: npm config get registry.`;
  }
  if (/\bE40[13]\b/.test(output))
    return `${host} wants to know who you are: npm login, or another registry (npm config get registry).`;
  if (/\bENOSPC\b/.test(output)) return "there is no space left on this disk.";
  if (/\b(EACCES|EPERM|EROFS)\b/.test(output))
    return "npm may not write here: see the path above, and whose it is.";
  if (/\bEINTEGRITY\b/.test(output))
    return "a package is not what package-lock.json says: it was changed on the way, or the cache is damaged (npm cache clean --force).";
  if (/npm cannot be started/.test(output)) return `${output}. npm comes with Node: see that it is in PATH.`;
  return "npm says why above.";
}

const withoutPassword = (url) => url.replace(/\/\/[^@/]*@/, "//");
