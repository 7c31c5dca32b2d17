import { Schema } from "effect"

/** The sandbox cannot start, or had to stop. The message states the reason and the remedy. */
export class SandboxError extends Schema.TaggedError<SandboxError>()("SandboxError", { message: Schema.String }) {}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full; free some space, or choose a folder on another disk with --folder",
  EDQUOT: "the disk quota is used up; free some space, or choose another folder with --folder",
  EROFS: "the file system is read-only; choose another folder with --folder",
  EACCES: "permission is denied; choose another folder with --folder",
  EPERM: "permission is denied; choose another folder with --folder",
  ENOTDIR: "a part of the path is not a folder; choose another with --folder",
  EEXIST: "it is not a folder; choose another with --folder",
  ENOENT: "it cannot be created there; choose another with --folder",
}

/** Explains a file system error under a folder in one sentence; undefined for any other error. */
export const folderError = (folder: string, error: unknown): string | undefined => {
  const { code, message = "" } = (error ?? {}) as { readonly code?: string; readonly message?: string }
  // Errors of PostgreSQL and its supervisor have no code, only a message.
  const found =
    code ?? /No space left on device/.exec(message)?.[0].replace(/.*/, "ENOSPC") ?? /\b(E[A-Z]+):/.exec(message)?.[1]
  const reason = REASONS[found ?? ""]
  return reason && `${folder} cannot be written: ${reason}.`
}
