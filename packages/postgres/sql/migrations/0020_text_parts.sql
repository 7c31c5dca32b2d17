-- A campaign's own text part; null where the text is made of the HTML.
alter table campaigns add column if not exists text text;
