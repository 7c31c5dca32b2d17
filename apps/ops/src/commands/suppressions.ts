import { suppressions as suppressionList } from "@outreach/backoffice/lists/suppressions"
import {
  createSuppression,
  exportSuppressions,
  importSuppressions,
  removeSuppression,
} from "@outreach/backoffice/operations/suppressions"
import { group } from "../group.ts"

export const suppressions = group("suppressions", "Clinicians that a program must not write to", [
  createSuppression,
  suppressionList,
  removeSuppression,
  importSuppressions,
  exportSuppressions,
])
