import { DescribedError } from "@outreach/domain/DescribedError"

/** A file that can't be imported. The reason never contains data of recipients. */
export class UnusableFile extends DescribedError("UnusableFile", "{file} cannot be imported: {reason}.") {}
