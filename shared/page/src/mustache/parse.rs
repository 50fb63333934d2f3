//! Parses the text of a template in one pass.

use super::{MAX_DEPTH, Node, TemplateProblem};

/// A parsed template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    pub(super) nodes: Vec<Node>,
    /// Every variable that it names, with its line.
    pub(crate) names: Vec<(String, usize)>,
}

/// A section whose end has not been parsed yet.
struct Open {
    name: String,
    line: usize,
    is_inverted: bool,
    /// The nodes before it.
    before: Vec<Node>,
}

struct Parser<'a> {
    source: &'a str,
    /// The offset up to which the source is parsed.
    at: usize,
    line: usize,
    delimiters: (String, String),
    nodes: Vec<Node>,
    open: Vec<Open>,
    names: Vec<(String, usize)>,
}

/// A tag: the content between the delimiters, and its extent.
struct Tag<'a> {
    kind: char,
    content: &'a str,
    start: usize,
    end: usize,
}

// === impl Template ===

impl Template {
    /// Parses `source`.
    pub(crate) fn parse(source: &str) -> Result<Self, TemplateProblem> {
        let mut parser = Parser {
            source,
            at: 0,
            line: 1,
            delimiters: ("{{".to_owned(), "}}".to_owned()),
            nodes: Vec::new(),
            open: Vec::new(),
            names: Vec::new(),
        };
        while let Some(tag) = parser.next_tag()? {
            parser.take(&tag)?;
        }
        parser.push_text(source.len());
        match parser.open.pop() {
            Some(open) => Err(TemplateProblem::new(
                open.line,
                format!("the section `{}` is never closed", open.name),
            )),
            None => Ok(Self { nodes: parser.nodes, names: parser.names }),
        }
    }
}

// === impl Parser ===

impl<'a> Parser<'a> {
    fn next_tag(&self) -> Result<Option<Tag<'a>>, TemplateProblem> {
        let (opening, closing) = (&*self.delimiters.0, &*self.delimiters.1);
        let Some(found) = self.source[self.at..].find(opening) else { return Ok(None) };
        let start = self.at + found;
        let inner = start + opening.len();
        let first = self.source[inner..].chars().next().unwrap_or_default();
        // Triple braces close with three; a change of delimiters closes with its `=`.
        let (kind, skip, close) = match first {
            '{' => ('{', 1, format!("}}{closing}")),
            '=' => ('=', 1, format!("={closing}")),
            '#' | '^' | '/' | '!' | '&' | '>' => (first, 1, closing.to_owned()),
            _ => (' ', 0, closing.to_owned()),
        };
        let content = inner + skip;
        match self.source.get(content..).and_then(|rest| rest.find(&close)) {
            Some(length) => Ok(Some(Tag {
                kind,
                content: self.source[content..content + length].trim(),
                start,
                end: content + length + close.len(),
            })),
            None => Err(TemplateProblem::new(
                self.line_of(start),
                format!("`{opening}` is never closed"),
            )),
        }
    }

    fn take(&mut self, tag: &Tag<'a>) -> Result<(), TemplateProblem> {
        let line = self.line_of(tag.start);
        let (cut, next) = self.extent(tag);
        self.push_text(cut);
        self.line += newlines(&self.source[self.at..next]);
        self.at = next;
        match tag.kind {
            '!' => Ok(()),
            '=' => self.change_delimiters(tag.content, line),
            '#' | '^' => self.open(name(tag.content, line)?, line, tag.kind == '^'),
            '/' => self.close(tag.content, line),
            '>' => Err(TemplateProblem::new(
                line,
                format!("the partial `{}`: there are none", tag.content),
            )),
            kind => {
                let name = name(tag.content, line)?;
                self.names.push((name.clone(), line));
                self.nodes.push(Node::Variable { name, line, is_escaped: kind == ' ' });
                Ok(())
            }
        }
    }

    /// Where the text before a tag ends and the text after it begins. A standalone tag that shows
    /// nothing removes its whole line.
    fn extent(&self, tag: &Tag<'_>) -> (usize, usize) {
        let whole = (tag.start, tag.end);
        if !matches!(tag.kind, '#' | '^' | '/' | '!' | '=') {
            return whole;
        }
        let begin = self.source[..tag.start].rfind('\n').map_or(0, |newline| newline + 1);
        let is_blank = |text: &str| text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        let rest = &self.source[tag.end..];
        let (tail, next) = match rest.find('\n') {
            Some(newline) => (&rest[..newline], tag.end + newline + 1),
            None => (rest, self.source.len()),
        };
        let stands_alone = is_blank(&self.source[begin..tag.start]) && is_blank(tail);
        if stands_alone { (begin.max(self.at), next) } else { whole }
    }

    fn push_text(&mut self, end: usize) {
        let text = &self.source[self.at..end];
        self.line += newlines(text);
        self.at = end;
        if !text.is_empty() {
            self.nodes.push(Node::Text(text.to_owned()));
        }
    }

    fn open(
        &mut self,
        name: String,
        line: usize,
        is_inverted: bool,
    ) -> Result<(), TemplateProblem> {
        if self.open.len() == MAX_DEPTH {
            let reason = format!("sections are nested more than {MAX_DEPTH} deep");
            return Err(TemplateProblem::new(line, reason));
        }
        self.names.push((name.clone(), line));
        let before = std::mem::take(&mut self.nodes);
        self.open.push(Open { name, line, is_inverted, before });
        Ok(())
    }

    fn close(&mut self, name: &str, line: usize) -> Result<(), TemplateProblem> {
        let Some(open) = self.open.pop() else {
            return Err(TemplateProblem::new(
                line,
                format!("`/{name}` closes a section that is not open"),
            ));
        };
        if open.name != name {
            let reason = format!("`/{name}` comes before the end of `{}`", open.name);
            return Err(TemplateProblem::new(line, reason));
        }
        let nodes = std::mem::replace(&mut self.nodes, open.before);
        let Open { name, line, is_inverted, .. } = open;
        self.nodes.push(Node::Section { name, line, is_inverted, nodes });
        Ok(())
    }

    fn change_delimiters(&mut self, content: &str, line: usize) -> Result<(), TemplateProblem> {
        let parts: Vec<_> = content.split_whitespace().collect();
        let [opening, closing] = parts[..] else {
            return Err(TemplateProblem::new(
                line,
                "two new delimiters are needed, as in `{{=<% %>=}}`",
            ));
        };
        if opening.contains('=') || closing.contains('=') {
            return Err(TemplateProblem::new(line, "delimiters must not contain `=`"));
        }
        self.delimiters = (opening.to_owned(), closing.to_owned());
        Ok(())
    }

    fn line_of(&self, start: usize) -> usize {
        self.line + newlines(&self.source[self.at..start])
    }
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

fn name(content: &str, line: usize) -> Result<String, TemplateProblem> {
    if content.is_empty() || content.contains(char::is_whitespace) {
        return Err(TemplateProblem::new(
            line,
            format!("`{content}` is not the name of a variable"),
        ));
    }
    Ok(content.to_owned())
}
