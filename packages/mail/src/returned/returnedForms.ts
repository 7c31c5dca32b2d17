import type { Email } from "postal-mime"
import { headsOf } from "./parseReturned.ts"

/**
 * How machines word what they send back: bounces and notices of delay in texts for people, challenges, and automatic replies. The first that fits
 * decides.
 *
 * Texts are compared by the beginnings of their lines, without regard to case. In a bounce, a line that begins with an address begins the reason
 * why that recipient did not get the message (`readNotice`).
 */
export interface ReturnedForm {
  /** Who writes it. */
  readonly name: string
  readonly kind: "bounce" | "delay" | "challenge" | "automatic_reply"
  readonly source: string
  /** The years or versions. */
  readonly seen: string
  /** Header fields by their names in lower case, all of which it has. */
  readonly head?: Readonly<Record<string, RegExp>>
  /** Beginnings of the line after which the reasons stand, one of which it has. Without any, they stand in the whole text. */
  readonly opening?: ReadonlyArray<string>
  /** Beginnings of the line that ends the reasons, beside `ENDS`. */
  readonly end?: ReadonlyArray<string>
  /** The form says that something failed, and not what. */
  readonly isGuess?: true
}

/** From whom mail systems write. */
const SYSTEM =
  /mailer-?daemon|^<>$|postmaster|mail delivery|delivery (sub)?system|system administrator|mail administrator|mailmarshal@|mdaemon@|bounce@/i

/** Reports whether a mail system wrote a message, by its header. */
export const isOfSystem = (message: Email): boolean => {
  const heads = headsOf(message)
  return SYSTEM.test(heads.get("from") ?? "") || /^<(mailer-daemon\b.*)?>$/i.test(heads.get("return-path") ?? "")
}

const SISIMAI = "the tables of https://github.com/sisimai/p5-sisimai"

/** How the line begins after which the returned message follows, or its head; whoever writes it. */
export const ENDS: ReadonlyArray<string> = [
  "--- below this line is", // qmail
  "------ this is a copy of", // exim
  "--- the header of the original", // GMX, IONOS
  "--- original message follows", // Yahoo
  "----- original message", // Gmail, sendmail
  "-----original message",
  "----- unsent message follows", // sendmail 5
  "----- message header follows",
  "----- recipients of this delivery",
  "-------original message", // m-FILTER
  "original message headers", // Exchange
  "original message follows", // IMail
  "possibly truncated original message", // GroupWise
  "below is a copy of the original message", // OpenSMTPD
  "content-type: message/",
  "received: from ",
  "received: by ",
  "return-path: <",
  "content-type: text/rfc822-headers",
]

/** Bounces and notices of delay in texts for people. The first whose opening stands in the text decides. */
const NOTICES: ReadonlyArray<ReturnedForm> = [
  // Delays first: some words of theirs begin bounces, too.
  {
    name: "exim, delay",
    kind: "delay",
    source: "https://github.com/Exim/exim/blob/master/src/src/deliver.c (warn_message)",
    seen: "3.x to 4.98",
    opening: ["a message that you sent has not yet been delivered", "a message that you sent was not yet delivered"],
  },
  {
    name: "sendmail, delay",
    kind: "delay",
    source: "sendmail 8, savemail.c (errbody), deliver.c",
    seen: "1993 to 2024",
    opening: [
      "**      this is a warning message only",
      "----- the following addresses had transient non-fatal errors",
      "warning: message still undelivered after",
      "warning: could not send message for past",
    ],
  },
  {
    name: "Gmail and Microsoft, delay",
    kind: "delay",
    source: `${SISIMAI} (Gmail); RFC 3464 texts of Exchange`,
    seen: "2003 to 2024",
    opening: [
      "this is a warning message only",
      "delivery to the following recipient has been delayed",
      "delivery to the following recipients has been delayed",
      "** delivery incomplete **",
      "there was a temporary problem delivering your message",
      "this message hasn't been delivered yet",
    ],
  },
  {
    name: "postfix, delay",
    kind: "delay",
    source: "https://www.postfix.org/bounce.5.html (delay template)",
    seen: "2.3 to 3.9",
    opening: ["# this is a warning only", "your message could not be delivered for"],
  },
  {
    name: "OpenSMTPD, delay",
    kind: "delay",
    source: "OpenSMTPD, smtpd/bounce.c",
    seen: "2012 to 2024",
    opening: ["a message is delayed for more than"],
  },
  {
    name: "qmail (QSBMF)",
    kind: "bounce",
    source: "https://cr.yp.to/proto/qsbmf.txt",
    seen: "1997; netqmail to 2024",
    opening: ["hi. this is the"],
    end: ["--- enclosed are the original headers"],
  },
  {
    name: "postfix",
    kind: "bounce",
    source: "https://www.postfix.org/bounce.5.html (failure template); bounce_notify_util.c before 2.3",
    seen: "1999 to 2024",
    opening: ["i'm sorry to have to inform you that", "i am sorry to have to inform you that"],
  },
  {
    name: "IONOS",
    kind: "bounce",
    source: `${SISIMAI} (EinsUndEins)`,
    seen: "2012 to 2024",
    opening: ["the following address failed", "the following addresses failed"],
  },
  {
    name: "exim, and GMX and Zoho in its words",
    kind: "bounce",
    source: "https://github.com/Exim/exim/blob/master/src/src/deliver.c",
    seen: "2.x to 4.98",
    opening: ["a message that you sent could not be delivered", "a message sent by"],
  },
  {
    name: "sendmail",
    kind: "bounce",
    source: "sendmail 8, savemail.c (errbody)",
    seen: "1993 to 2024",
    opening: [
      "----- the following addresses had permanent fatal errors",
      "----- the following addresses had delivery problems",
    ],
  },
  {
    name: "sendmail 5",
    kind: "bounce",
    source: `${SISIMAI} (V5sendmail)`,
    seen: "1983 to 1993; still in appliances",
    opening: ["----- transcript of session follows"],
  },
  {
    name: "Gmail, text",
    kind: "bounce",
    source: `${SISIMAI} (Gmail)`,
    seen: "2004 to 2016",
    opening: [
      "delivery to the following recipient failed permanently",
      "delivery to the following recipients failed permanently",
    ],
  },
  {
    name: "Gmail",
    kind: "bounce",
    source: "https://support.google.com/mail/answer/6596",
    seen: "2016 to 2024",
    opening: [
      "** address not found **",
      "** message blocked **",
      "** message not delivered **",
      "** recipient inbox full **",
      "** message too large **",
    ],
  },
  {
    name: "Google Groups",
    kind: "bounce",
    source: `${SISIMAI} (GoogleGroups)`,
    seen: "2015 to 2024",
    opening: ["we're writing to let you know that the group you tried to contact"],
  },
  {
    name: "Yahoo",
    kind: "bounce",
    source: `${SISIMAI} (Yahoo)`,
    seen: "2003 to 2019",
    opening: [
      "unable to deliver message to the following address",
      "sorry, we were unable to deliver your message to the following address",
    ],
  },
  {
    name: "Exchange 5.5 and 2000",
    kind: "bounce",
    source: `${SISIMAI} (Exchange2003)`,
    seen: "1997 to 2010",
    opening: ["did not reach the following recipient"],
  },
  {
    name: "Exchange 2003",
    kind: "bounce",
    source: `${SISIMAI} (Exchange2003)`,
    seen: "2003 to 2014",
    opening: ["the following recipient(s) could not be reached", "the following recipient(s) cannot be reached"],
  },
  {
    name: "Exchange 2007 and later, Office 365",
    kind: "bounce",
    source: "https://learn.microsoft.com/exchange/mail-flow/non-delivery-reports-and-bounce-messages",
    seen: "2007 to 2024; in English, French, German, Italian, Spanish, Swedish, Dutch, Portuguese",
    opening: [
      "diagnostic information for administrators",
      "informations de diagnostic pour les administrateurs",
      "diagnoseinformationen f\u00fcr administratoren",
      "informazioni di diagnostica per gli amministratori",
      "informaci\u00f3n de diagn\u00f3stico para los administradores",
      "diagnostisk information f\u00f6r administrat\u00f6rer",
      "diagnostische gegevens voor beheerders",
      "informa\u00e7\u00f5es de diagn\u00f3stico para administradores",
      "reported error:",
      "error details",
    ],
    end: [
      "dsn generated by:",
      "en-t\u00eates de message d'origine",
      "urspr\u00fcngliche nachrichtenkopfzeilen",
      "intestazioni originali del messaggio",
      "encabezados de mensajes originales",
      "ursprungshuvuden",
      "oorspronkelijke berichtkoppen",
      "cabe\u00e7alhos de mensagem originais",
      "message hops",
    ],
  },
  {
    name: "Outlook.com, Hotmail and IIS",
    kind: "bounce",
    source: `${SISIMAI} (Outlook, RFC 3464)`,
    seen: "2000 to 2024",
    opening: ["delivery to the following recipients failed", "unable to deliver message to the following recipients"],
  },
  {
    name: "IBM Domino",
    kind: "bounce",
    source: `${SISIMAI} (Domino)`,
    seen: "1999 to 2020",
    opening: ["was not delivered to:"],
  },
  {
    name: "Novell GroupWise",
    kind: "bounce",
    source: "https://github.com/sympa-community/sympa (bouncehandler, groupwise7)",
    seen: "2000 to 2018",
    opening: [
      "the message that you sent was undeliverable to the following",
      "the attached file had the following undeliverable recipient",
    ],
  },
  {
    name: "Amazon SES and WorkMail",
    kind: "bounce",
    source: `${SISIMAI} (AmazonSES, AmazonWorkMail)`,
    seen: "2011 to 2024",
    opening: ["an error occurred while trying to deliver the mail to the following recipients"],
  },
  {
    name: "Sun Messaging Server, iCloud",
    kind: "bounce",
    source: `${SISIMAI} (MessagingServer)`,
    seen: "2003 to 2020",
    opening: ["your message cannot be delivered to the following recipients"],
  },
  {
    name: "Mimecast",
    kind: "bounce",
    source: `${SISIMAI} (Mimecast)`,
    seen: "2018 to 2025",
    opening: ["an email that you attempted to send to the following address"],
  },
  {
    name: "Barracuda",
    kind: "bounce",
    source: `${SISIMAI} (Barracuda)`,
    seen: "2007 to 2022",
    opening: ["was blocked by our spam firewall"],
  },
  {
    name: "Proofpoint and FrontBridge",
    kind: "bounce",
    source: "https://help.proofpoint.com/ (bounce messages)",
    seen: "2005 to 2024",
    opening: [
      "your message was not delivered to the following recipient",
      "delivery to the following recipient(s) failed",
    ],
  },
  {
    name: "Symantec MessageLabs",
    kind: "bounce",
    source: `${SISIMAI} (MessageLabs)`,
    seen: "2006 to 2020",
    opening: [
      "i was not able to deliver your message to the following",
      "this is the mail delivery agent at messagelabs.com",
    ],
  },
  {
    name: "Apache James",
    kind: "bounce",
    source: `${SISIMAI} (ApacheJames)`,
    seen: "2003 to 2024",
    opening: ["error message below", "failed recipient(s):"],
    end: ["message details:"],
  },
  {
    name: "MailMarshal",
    kind: "bounce",
    source: `${SISIMAI} (MailMarshalSMTP)`,
    seen: "2004 to 2020",
    opening: ["could not be delivered because of"],
    end: ["the following recipients were affected", "additional information"],
  },
  {
    name: "MailFoundry",
    kind: "bounce",
    source: `${SISIMAI} (MailFoundry)`,
    seen: "2006 to 2014",
    opening: ["delivery failed for the following reason"],
    end: ["this has been a permanent failure"],
  },
  {
    name: "m-FILTER",
    kind: "bounce",
    source: `${SISIMAI} (mFILTER)`,
    seen: "2009 to 2020",
    opening: ["-------server message"],
  },
  {
    name: "Trend Micro InterScan",
    kind: "bounce",
    source: `${SISIMAI} (InterScanMSS)`,
    seen: "2003 to 2020",
    opening: ["sent >>> rcpt to", "sent <<< rcpt to", "unable to deliver message to <"],
  },
  {
    name: "SurfControl",
    kind: "bounce",
    source: `${SISIMAI} (SurfControl)`,
    seen: "2003 to 2012",
    opening: ["your message could not be sent"],
    end: ["the message header"],
  },
  {
    name: "Courier",
    kind: "bounce",
    source: "Courier, submit.C (dsn templates)",
    seen: "2000 to 2024",
    opening: ["your message to the following recipients cannot be delivered", "undeliverable mail"],
    end: ["if your message was also sent to additional"],
  },
  {
    name: "OpenSMTPD",
    kind: "bounce",
    source: "OpenSMTPD, smtpd/bounce.c",
    seen: "2012 to 2024",
    opening: ["an error has occurred while attempting to deliver a message"],
  },
  {
    name: "McAfee",
    kind: "bounce",
    source: `${SISIMAI} (McAfee)`,
    seen: "2006 to 2016",
    opening: ["--- the following addresses had delivery problems"],
  },
  {
    name: "IMail",
    kind: "bounce",
    source: `${SISIMAI} (IMailServer)`,
    seen: "1998 to 2020",
    head: { "x-mailer": /^<SMTP32 v/i },
  },
  {
    name: "MDaemon",
    kind: "bounce",
    source: "MDaemon, the template DSNFail.dat",
    seen: "2000 to 2020",
    opening: ["failed address:", "the following data may contain sections which represent bounced messages"],
    end: ["--- session transcript", "--- end transcript", ": message contains"],
  },
  {
    name: "Lotus cc:Mail and others",
    kind: "bounce",
    source: `${SISIMAI} (X1, X2, X3)`,
    seen: "2000 to 2015",
    opening: [
      "the original message was received at", // X1
      "unable to deliver message to the following address", // X2
      "this mail is generated by the smtp", // X3
      "your message can't be delivered to the following recipient",
    ],
  },
  {
    name: "X-Failed-Recipients",
    kind: "bounce",
    source: "exim, deliver.c; Gmail",
    seen: "1998 to 2024",
    head: { "x-failed-recipients": /@/ },
  },
]

const FAILURE_SUBJECT =
  /undeliver|delivery (has )?fail|fail\w* (delivery|notice)|delivery status notification \(failure|returned mail|(mail|message|delivery).{0,20}(returned|error|problem|not delivered)|could ?n.t be delivered|unzustellbar|nicht zustellbar|non remis|non distribu|echec|échec|no se puede entregar|no entregado|devuelto|mancato recapito|non recapitabile|não (é possível|foi possível) entregar|onbestelbaar|niet bezorgd|kunde inte leverer|olevererbart|ikke leveres|配信|未达|退信|недостав/i

/** What a mail system returns in words that nobody has written down here. */
const UNKNOWN_BOUNCES: ReadonlyArray<ReturnedForm> = [
  {
    name: "a report without fields",
    kind: "bounce",
    source: "RFC 3464",
    seen: "2013 to 2024",
    head: { "content-type": /report-type="?(global-)?delivery-status/i },
    isGuess: true,
  },
  {
    name: "a subject of mail systems",
    kind: "bounce",
    source: SISIMAI,
    seen: "to 2024",
    head: { from: SYSTEM, subject: FAILURE_SUBJECT },
    isGuess: true,
  },
  {
    name: "a subject of mail systems, from nobody",
    kind: "bounce",
    source: "RFC 5321, 4.5.5",
    seen: "to 2024",
    head: { "return-path": /^<>$/, subject: FAILURE_SUBJECT },
    isGuess: true,
  },
]

const challenge = (
  name: string,
  source: string,
  seen: string,
  how: Pick<ReturnedForm, "head" | "opening">,
): ReturnedForm => ({
  ...{ name, kind: "challenge", source, seen },
  ...how,
})

const CHALLENGES: ReadonlyArray<ReturnedForm> = [
  challenge("TMDA", "https://github.com/KevinGoodsell/tmda-fork (templates/confirm_request.txt)", "2001 to 2015", {
    head: { "x-delivery-agent": /^TMDA\b/i, subject: /confirm/i },
  }),
  challenge("TMDA, by its address", "https://github.com/KevinGoodsell/tmda-fork", "2001 to 2015", {
    head: { "reply-to": /-confirm-[\w.]+@/i },
  }),
  challenge("Boxbe", "https://www.boxbe.com/", "2006 to 2024", { head: { from: /@(\w+\.)?boxbe\.com/i } }),
  challenge("Spam Arrest", "https://www.spamarrest.com/", "2001 to 2024", {
    head: { from: /@(\w+\.)?spamarrest\.com/i },
  }),
  challenge("EarthLink spamBlocker", "https://help.earthlink.net/", "2003 to 2020", {
    opening: ["i apologize for this automatic reply to your email", "my email address is protected by earthlink"],
  }),
  challenge("Mailinblack", "https://www.mailinblack.com/", "2003 to 2024", {
    head: { from: /@(\w+\.)*mailinblack\.com/i },
  }),
  challenge("BoxTrapper of cPanel", "https://docs.cpanel.net/cpanel/email/boxtrapper/", "2003 to 2024", {
    head: { subject: /your email requires verification|verify#/i },
  }),
  challenge("Sender verification", "https://www.mailwasher.net/ and others", "2002 to 2024", {
    head: {
      subject:
        /(sender|e-?mail|message).{0,30}(verification|confirmation) (required|request|needed)|(confirm|verify|validate|authenticat)\w* (that )?(you are|you're|yourself|your (e-?mail|message|address|identity))|action required to deliver|awaiting (your )?(authorization|verification)|tira-?teima|merci de vous authentifier/i,
    },
  }),
]

const reply = (name: string, source: string, seen: string, head: ReturnedForm["head"]): ReturnedForm => ({
  ...{ name, kind: "automatic_reply", source, seen },
  ...(head && { head }),
})
const DETECTING = "https://github.com/jpmckinney/multi_mail/wiki/Detecting-autoresponders"

const AUTOMATIC_REPLIES: ReadonlyArray<ReturnedForm> = [
  reply("Auto-Submitted", "RFC 3834, 5", "2004 to 2024", { "auto-submitted": /^\s*(?!no\b)\w/i }),
  reply("X-Autoreply", `${DETECTING}; Gmail, cPanel`, "2000 to 2024", { "x-autoreply": /^(?!no\b)\S/i }),
  reply("X-Autorespond", `${DETECTING}; cPanel, BoxTrapper`, "2000 to 2024", { "x-autorespond": /\S/ }),
  reply("X-Autoresponder", DETECTING, "2000 to 2024", { "x-autoresponder": /\S/ }),
  reply("X-Auto-Response-Suppress", "[MS-OXCMAIL] 2.1.3.2.20; Exchange", "2007 to 2024", {
    "x-auto-response-suppress": /\b(all|oof|autoreply)\b/i,
  }),
  reply("X-AutoReply-From", `${DETECTING}; Domain Technologie Control`, "2005 to 2022", { "x-autoreply-from": /\S/ }),
  reply("X-Mail-Autoreply", `${DETECTING}; Domain Technologie Control`, "2005 to 2022", { "x-mail-autoreply": /\S/ }),
  reply("X-Autogenerated", `${DETECTING}; CommuniGate Pro`, "2000 to 2022", { "x-autogenerated": /\S/ }),
  reply("X-FC-MachineGenerated", `${DETECTING}; FirstClass`, "2000 to 2022", { "x-fc-machinegenerated": /true/i }),
  reply("X-POST-MessageClass", `${DETECTING}; Mailtraq`, "2000 to 2022", { "x-post-messageclass": /autoresponder/i }),
  reply("Delivered-To: Autoresponder", `${DETECTING}; qmail`, "1998 to 2022", { "delivered-to": /autoresponder/i }),
  reply("Precedence", "vacation(1), 4.3BSD; RFC 3834, 3.1.8", "1983 to 2024", {
    precedence: /^(auto_?reply|bulk|junk|list)\b/i,
  }),
  reply("X-Precedence", `${DETECTING}; cPanel`, "2003 to 2022", { "x-precedence": /^(auto_?reply|bulk|junk)\b/i }),
  reply("a subject of absence", "Exchange, Outlook, Gmail, Domino, GroupWise in their languages", "1997 to 2024", {
    subject:
      /^\s*(auto(matic)?[ -]?(reply|response|matisk|: )|autoreply|automatische antwort|automatisch antwoord|réponse automatique|respuesta automática|resposta automática|risposta automatica|automatiskt? svar|autosvar|automaattinen vastaus|automatická odpověď|automatická odpoveď|odpowiedź automatyczna|automatyczna odpowiedź|automatikus válasz|răspuns automat|otomatik (yanıt|cevap)|αυτόματη απάντηση|автоматический ответ|автоответ|автоматична відповідь|תשובה אוטומטית|رد تلقائي|自动(答复|回复)|自動(回覆|応答|返信)|자동 ?(회신|응답))|out of (the )?office|abwesen(d|heit)|absence (du|de) bureau|absent du bureau|message d'absence|fuera de (la )?oficina|ausente del despacho|fuori (sede|ufficio)|ausência|fora do escritório|afwezig|frånvar|fraværende|poissa|nieobecno|nepřítomnost|távollét|вне офиса|отсутств|\bon (vacation|holiday|annual leave|maternity leave)\b|\bvacation (reply|response|message)|away from (my|the) (mail|e-?mail|desk|office)|不在/i,
  }),
  reply("a mail system", "RFC 2142; RFC 5321, 4.5.5", "to 2024", { from: SYSTEM }),
]

export const RETURNED_FORMS: ReadonlyArray<ReturnedForm> = [
  ...NOTICES,
  ...CHALLENGES,
  ...UNKNOWN_BOUNCES,
  ...AUTOMATIC_REPLIES,
]
