import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { type ServerProgram, serverProgram } from "./server-program.ts";

/** Key of the S3 server's administrator. */
export const S3_KEY = { access_key_id: "slipway-test", secret_access_key: "slipway-test-secret" };
/** Bucket that everybody may read, without a key. */
export const PUBLIC_BUCKET = "public";
export const PRIVATE_BUCKET = "private";

/** A SeaweedFS server, which checks signatures as AWS does. */
export const s3Server = (): (() => ServerProgram) =>
  serverProgram(
    async ({ port, dir }) => {
      const config = join(dir, "s3.json");
      const identities = [
        {
          name: "admin",
          credentials: [{ accessKey: S3_KEY.access_key_id, secretKey: S3_KEY.secret_access_key }],
          actions: ["Admin", "Read", "Write", "List"],
        },
        { name: "anonymous", actions: [`Read:${PUBLIC_BUCKET}`] },
      ];
      await writeFile(config, JSON.stringify({ identities }));
      await mkdir(join(dir, "data"));
      const args = ["server", `-dir=${join(dir, "data")}`, "-ip=127.0.0.1", "-ip.bind=127.0.0.1"];
      args.push("-filer", "-s3", `-s3.config=${config}`, `-s3.port=${port}`, "-master.volumeSizeLimitMB=64");
      args.push("-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false");
      for (const name of ["master.port", "volume.port", "filer.port"])
        args.push(`-${name}=${await freePort()}`, `-${name}.grpc=${await freePort()}`);
      args.push(`-s3.port.grpc=${await freePort()}`);
      return { command: "weed", args };
    },
    async ({ port }) => {
      const made = [PUBLIC_BUCKET, PRIVATE_BUCKET].map((bucket) => bucketMade(port, bucket));
      return (await Promise.all(made)).every(Boolean);
    },
  );

async function bucketMade(port: number, bucket: string): Promise<boolean> {
  const { signedHeaders, EMPTY_SHA256 } = await import("@slipway/kernel/sigv4");
  const url = new URL(`http://127.0.0.1:${port}/${bucket}`);
  const key = {
    accessKeyId: S3_KEY.access_key_id,
    secretAccessKey: S3_KEY.secret_access_key,
    region: "us-east-1",
  };
  const request = { method: "PUT", url, payloadSha256: EMPTY_SHA256, now: Date.now() };
  const reply = await fetch(url, { method: "PUT", headers: signedHeaders(request, key) }).catch(
    () => undefined,
  );
  return reply?.status === 200 || reply?.status === 409;
}

export const DAV_USER = { user: "blobs", password: "dav-pass" };

/** nginx with its DAV module, as BOSH's own blobstore has it. Everybody may read below `/public`. */
export const davServer = (): (() => ServerProgram) =>
  serverProgram(
    async ({ port, dir }) => {
      const sha1 = createHash("sha1").update(DAV_USER.password).digest("base64");
      await writeFile(join(dir, "users"), `${DAV_USER.user}:{SHA}${sha1}\n`);
      await Promise.all(["store", "body"].map((name) => mkdir(join(dir, name))));
      const root = process.getuid?.() === 0 ? "user root;\n" : "";
      const config = `${root}daemon off;
pid ${dir}/pid;
error_log stderr;
events {}
http {
  access_log off;
  client_body_temp_path ${dir}/body;
  client_max_body_size 100m;
  server {
    listen 127.0.0.1:${port};
    root ${dir}/store;
    dav_methods PUT DELETE;
    create_full_put_path on;
    location / {
      auth_basic blobs;
      auth_basic_user_file ${dir}/users;
    }
    location /public {
      limit_except GET { auth_basic blobs; auth_basic_user_file ${dir}/users; }
    }
  }
}
`;
      await writeFile(join(dir, "nginx.conf"), config);
      return { command: "nginx", args: ["-c", join(dir, "nginx.conf"), "-p", dir, "-e", "stderr"] };
    },
    () => Promise.resolve(true),
  );

/** The account that every Azurite has. Its key is published. */
export const AZURITE = {
  account_name: "devstoreaccount1",
  account_key: "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
};

/** Microsoft's own emulator of Azure Storage, which checks signatures. */
export const azurite = (): (() => ServerProgram) =>
  serverProgram(
    ({ port, dir }) =>
      Promise.resolve({
        command: "azurite-blob",
        args: [
          ...["--blobHost", "127.0.0.1", "--blobPort", String(port), "--location", dir],
          ...["--silent", "--skipApiVersionCheck"],
        ],
      }),
    () => Promise.resolve(true),
  );
