import { DescribedError } from "./DescribedError.ts"

/** Somebody changed a record after it was read, so a change that was made from what was read would undo that. */
export class ChangedMeanwhile extends DescribedError(
  "ChangedMeanwhile",
  "{id} was changed after it was read. Nothing was changed now.",
) {}
