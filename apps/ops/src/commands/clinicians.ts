import { erase } from "../clinicians/erase.ts"
import { exportData } from "../clinicians/exportData.ts"
import { group } from "../Declaration.ts"

/** `ops clinicians …` */
export const clinicians = group({ about: "What is held on a clinician", commands: { export: exportData, erase } })
