-- In a transaction of its own: it reads all recipients, who can be written meanwhile.
alter table recipients validate constraint recipients_withdrawal_reason_check;
