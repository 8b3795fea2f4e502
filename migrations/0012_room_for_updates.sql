-- Room on the page for the update that every row of these tables is known to get (a code is spent, an order consumed, its
-- voucher used): it then stays on its page and no index has to be touched (HOT). Codes and vouchers are updated
-- once as a rule. Orders are updated several times; in between, the room of outdated versions is used again.
alter table authorization_code set (fillfactor = 45);
alter table voucher set (fillfactor = 45);
alter table ticket_order set (fillfactor = 70);
