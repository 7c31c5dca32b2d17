import { DescribedError } from "@outreach/domain/DescribedError"

/** A file that cannot be imported at all. The reason never contains data of recipients. */
export class UnusableFile extends DescribedError("UnusableFile", "{file} cannot be imported: {reason}.") {}
