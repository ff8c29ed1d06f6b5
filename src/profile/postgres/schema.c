// SPDX-License-Identifier: MIT
#include "profile/postgres/schema.h"

const char schema_roles[] =
    "DO $$ BEGIN "
    "IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'vyre_machine') THEN "
    "CREATE ROLE vyre_machine NOLOGIN; END IF; "
    "IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'vyre_reader') THEN "
    "CREATE ROLE vyre_reader NOLOGIN; END IF; END $$;"
    "CREATE SCHEMA IF NOT EXISTS vyre;"
    "CREATE TABLE IF NOT EXISTS vyre.format (version integer NOT NULL);"
    "GRANT USAGE ON SCHEMA vyre TO vyre_machine, vyre_reader;"
    "GRANT SELECT ON vyre.format TO vyre_machine, vyre_reader;";

// The key begins with the program, because that is what a machine asks for. What a store measured
// is kept under that store: a machine that begins anew does not mix with what it was.
#define TEXT(name) name " text NOT NULL CHECK (octet_length(" name ") <= 512),"
#define HASH(name) name " bytea NOT NULL CHECK (octet_length(" name ") = 32),"

const char *const schema_migrations[FLEET_FORMAT] = {
    "CREATE TABLE vyre.latency ("
    "origin name NOT NULL DEFAULT current_user,"
    "store text NOT NULL CHECK (store ~ '^[0-9a-f]{32}$')," HASH("fingerprint") TEXT("device")
        TEXT("build") TEXT("op") TEXT("work") TEXT(
            "variant") "size_class smallint NOT NULL CHECK (size_class BETWEEN 0 AND 64),"
                       "count bigint NOT NULL CHECK (count > 0),"
                       "min_ns bigint NOT NULL CHECK (min_ns > 0),"
                       "median_ns bigint NOT NULL CHECK (median_ns >= min_ns),"
                       "received timestamptz NOT NULL DEFAULT now(),"
                       "PRIMARY KEY (fingerprint, device, build, size_class, work, variant, op, "
                       "origin, store));"
                       "CREATE INDEX latency_received ON vyre.latency (received);"

                       "CREATE TABLE vyre.wrong ("
                       "origin name NOT NULL DEFAULT current_user," HASH("hash") TEXT("op")
                           TEXT("variant") TEXT("device") TEXT(
                               "detail") "received timestamptz NOT NULL DEFAULT now(),"
                                         "PRIMARY KEY (hash, origin));"
                                         "CREATE INDEX wrong_received ON vyre.wrong (received);"

                                         "CREATE TABLE vyre.pushed ("
                                         "origin name NOT NULL DEFAULT current_user,"
                                         "store text NOT NULL CHECK (store ~ '^[0-9a-f]{32}$'),"
                                         "sequence bigint NOT NULL CHECK (sequence >= 0),"
                                         "received timestamptz NOT NULL DEFAULT now(),"
                                         "PRIMARY KEY (origin, store));"

                                         "ALTER TABLE vyre.latency ENABLE ROW LEVEL SECURITY;"
                                         "ALTER TABLE vyre.wrong ENABLE ROW LEVEL SECURITY;"
                                         "ALTER TABLE vyre.pushed ENABLE ROW LEVEL SECURITY;"
                                         "CREATE POLICY look ON vyre.latency FOR SELECT USING "
                                         "(true);"
                                         "CREATE POLICY look ON vyre.wrong FOR SELECT USING (true);"
                                         "CREATE POLICY add ON vyre.latency FOR INSERT TO "
                                         "vyre_machine"
                                         " WITH CHECK (origin = current_user);"
                                         "CREATE POLICY change ON vyre.latency FOR UPDATE TO "
                                         "vyre_machine"
                                         " USING (origin = current_user) WITH CHECK (origin = "
                                         "current_user);"
                                         "CREATE POLICY remove ON vyre.latency FOR DELETE TO "
                                         "vyre_machine"
                                         " USING (origin = current_user);"
                                         "CREATE POLICY add ON vyre.wrong FOR INSERT TO "
                                         "vyre_machine"
                                         " WITH CHECK (origin = current_user);"
                                         "CREATE POLICY own ON vyre.pushed TO vyre_machine"
                                         " USING (origin = current_user) WITH CHECK (origin = "
                                         "current_user);"
                                         "GRANT SELECT ON vyre.latency, vyre.wrong TO "
                                         "vyre_machine, vyre_reader;"
                                         "GRANT INSERT, UPDATE, DELETE ON vyre.latency TO "
                                         "vyre_machine;"
                                         "GRANT INSERT ON vyre.wrong TO vyre_machine;"
                                         "GRANT SELECT, INSERT, UPDATE ON vyre.pushed TO "
                                         "vyre_machine;"

                                         // For the administrator: forgets what nobody renewed for
                                         // so many days.
                                         "CREATE FUNCTION vyre.prune(days integer) RETURNS bigint "
                                         "LANGUAGE sql AS $$"
                                         " WITH gone AS (DELETE FROM vyre.latency WHERE received < "
                                         "now() - make_interval(days => days)"
                                         " RETURNING 1) SELECT count(*) FROM gone $$;"
                                         "REVOKE ALL ON FUNCTION vyre.prune(integer) FROM PUBLIC;",
};
