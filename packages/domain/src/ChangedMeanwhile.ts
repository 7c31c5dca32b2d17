import { DescribedError } from "./DescribedError.ts"

/** A record changed after it was read, so a change based on the reading would overwrite the newer one. */
export class ChangedMeanwhile extends DescribedError(
  "ChangedMeanwhile",
  "{id} was changed after it was read. Your change wasn't saved.",
) {}
