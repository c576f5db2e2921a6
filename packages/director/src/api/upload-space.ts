import type { BlobId } from "@slipway/engine/blobs/blobs";
import { type FreeSpace, freeSpace } from "@slipway/engine/stemcells/free-space";

/** Bytes that are taken at once for an upload of unknown size. */
const STEP = 16 << 20;

/** One upload: what it may write, and what it has written. */
interface Claim {
  granted: number;
  seen: number;
}

export interface UploadClaim {
  /** Claims room before so many more bytes are written. */
  take(bytes: number): Promise<void>;
}

/** The space uploads may use, shared by all that come in at the same time: what one was promised, no other gets. */
export class UploadSpace {
  readonly #free: FreeSpace;
  readonly #claims = new Set<Claim>();
  readonly #arriving = new Set<BlobId>();

  constructor(free: FreeSpace = freeSpace) {
    this.#free = free;
  }

  /** Reports whether an archive has no task yet because it has only just arrived. */
  isArriving(id: BlobId): boolean {
    return this.#arriving.has(id);
  }

  /** Marks the archive as on its way to its task while `work` runs. */
  async arriving<T>(id: BlobId, work: () => Promise<T>): Promise<T> {
    this.#arriving.add(id);
    try {
      return await work();
    } finally {
      this.#arriving.delete(id);
    }
  }

  /** `size`: as announced, 0 when it is not. `tooLarge` makes the error for when there is less, and says how much. */
  async claim<T>(
    directory: string,
    size: number,
    tooLarge: (room: number) => Error,
    work: (claim: UploadClaim) => Promise<T>,
  ): Promise<T> {
    const claim: Claim = { granted: 0, seen: 0 };
    const grow = async (least: number, most: number) => {
      const free = await this.#free(directory);
      // No await from here to the end: another claim must not be promised the same room.
      const room = free - this.#promised();
      if (least > room) throw tooLarge(Math.max(0, room));
      claim.granted += Math.min(most, room);
    };
    this.#claims.add(claim);
    try {
      await grow(size, size);
      return await work({
        take: async (bytes) => {
          const missing = claim.seen + bytes - claim.granted;
          if (missing > 0) await grow(missing, Math.max(missing, STEP));
          claim.seen += bytes;
        },
      });
    } finally {
      this.#claims.delete(claim);
    }
  }

  #promised(): number {
    return [...this.#claims].reduce((sum, { granted, seen }) => sum + granted - seen, 0);
  }
}
