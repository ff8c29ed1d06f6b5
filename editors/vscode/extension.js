// SPDX-License-Identifier: MIT
// Starts `vyre lsp` for files of the language.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const command = workspace.getConfiguration("vyre").get("command");
  client = new LanguageClient("vyre", "vyre", { command, args: ["lsp"] },
    { documentSelector: [{ language: "vyre" }, { pattern: "**/*.cl" }] });
  return client.start();
};

exports.deactivate = () => client && client.stop();
